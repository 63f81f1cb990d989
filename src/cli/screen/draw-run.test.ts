import { expect, test } from 'vitest';
import { drawRun } from './draw-run.ts';
import type { RunFacts } from './draw-sums.ts';
import type { RunView } from './run-view.ts';

const now = new Date('2026-11-15T20:00:00Z');
const lanes = [
  { ordinal: 1, mark: 'done' },
  { ordinal: 2, mark: 'active' },
] as const;
const view: RunView = {
  stages: [
    { name: 'Questions', mark: 'done', done: 2, total: 2, calls: 3, steps: [] },
    {
      name: 'Proposal',
      mark: 'active',
      done: 3,
      total: 8,
      calls: 3,
      steps: [
        { name: 'Plan the proposal', mark: 'done', done: 2, total: 2, lanes: [] },
        { name: 'Write the business case', mark: 'active', done: 1, total: 2, lanes },
        { name: 'Write the metrics', mark: 'waiting', done: 0, total: 4, lanes: [] },
      ],
    },
    { name: 'Review', mark: 'waiting', done: 0, total: 20, calls: 0, steps: [] },
    { name: 'Result', mark: 'waiting', done: 0, total: 9, calls: 0, steps: [] },
  ],
  calls: [
    {
      participant: '2 a-model-with-a-long-name',
      title: 'Business Case of the Whole Company',
      startedAt: '2026-11-15T19:59:48Z',
      characters: 5000,
      reading: null,
    },
    {
      participant: '1 short',
      title: 'Metrics',
      startedAt: '2026-11-15T20:00:01Z',
      characters: 0,
      reading: null,
    },
  ],
  retries: [
    {
      participant: '1 short',
      title: 'Business Case',
      error: { code: 'provider_unavailable', message: 'compatible/m: 503.' },
      attempt: 2,
      nextTryAt: '2026-11-15T20:00:08Z',
    },
  ],
  queued: 4,
  done: 5,
  total: 39,
  made: 6,
  iteration: 1,
};
const facts: RunFacts = {
  participants: ['1 compatible/short', '2 compatible/a-model-with-a-long-name'],
  tokens: 120_345,
  costMicros: 31_200,
  unpriced: 0,
  budgetMicros: 1_000_000,
  budgetTokens: null,
  gates: [],
  seconds: 48,
  secondsLeft: 125,
  now,
};
const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;
const draw = (columns: number, rows: number, shown = view, about = facts): string[] =>
  drawRun(shown, about, { columns, rows, widthOf: (text) => text.length, cut }).map((line) =>
    line.map((part) => (typeof part === 'string' ? part : part.text)).join(''),
  );

const time = new Date('2026-11-15T20:00:08Z').toLocaleTimeString('en-GB');
const RETRY =
  `↻ 1 short, Business Case: try 3 at ${time}, in 8 s. ` +
  'compatible/m: 503. (provider_unavailable)';

test('a single call is not several', () => {
  const stages = [{ ...view.stages[0]!, calls: 1 }];
  expect(draw(100, 24, { ...view, stages, calls: [], retries: [] })[1]).toBe('✓ Questions 1 call');
});

test('a later pass says so, and counts its own calls', () => {
  const lines = draw(100, 24, { ...view, iteration: 2 });
  expect(lines.join('\n')).toContain('pass 2: 6 of about 40 calls · 2 in flight');
});

test('a window with room shows stages, steps, calls, retries and sums', () => {
  expect(draw(100, 24)).toEqual([
    '1 compatible/short · 2 compatible/a-model-with-a-long-name',
    '✓ Questions 3 calls',
    '▸ Proposal 3 of 8',
    '    ✓ Plan the proposal 2/2 ',
    '    ▸ Write the business case 1/2  1✓ 2▸',
    '    · Write the metrics 0/4 ',
    '· Review',
    '· Result',
    '  2 a-model-with-a-long-name  Business Case of the Whole Company  ~1,250 tokens  12 s',
    '  1 short                     Metrics                             no text yet    0 s',
    RETRY,
    '6 of about 40 calls · 2 in flight, 4 queued · 120,345 tokens · $0.0312 of $1.00',
    '48 s, about 2 min 5 s left',
  ]);
});

test('jobs that wait for the same reason share a line; while most wait, no time left is told', () => {
  const [retry] = view.retries;
  const error = { code: 'provider_circuit_open', message: 'lab keeps failing.' };
  const waiting = ['2026-11-15T20:01:00.250Z', '2026-11-15T20:00:59.745Z'].map((nextTryAt) => {
    return { ...retry!, error, attempt: 0, nextTryAt };
  });
  const first = new Date('2026-11-15T20:00:59Z').toLocaleTimeString('en-GB');
  const shown = { ...view, calls: [], retries: [...waiting, ...view.retries] };
  expect(draw(100, 24, shown).slice(8)).toEqual([
    `↻ 2 jobs wait: next try at ${first}, in 1 min 0 s. ` +
      'lab keeps failing. (provider_circuit_open)',
    RETRY,
    '6 of about 40 calls · 0 in flight, 4 queued · 120,345 tokens · $0.0312 of $1.00 · 48 s',
  ]);
});

test('a call whose texts are being read says which, and how far it is', () => {
  const [first] = view.calls;
  const reading = { title: 'Annals', done: 1_200, all: 9_000 };
  const lines = draw(100, 24, { ...view, calls: [{ ...first!, characters: 0, reading }] });
  expect(lines.join('\n')).toContain('reading Annals: 1,200 of 9,000 parts');
});

test('in 50 columns names give way to figures, and in 12 rows stages share lines', () => {
  const lines = draw(50, 12);
  expect(lines.slice(0, 4)).toEqual([
    '✓ Questions',
    '▸ Proposal 3 of 8',
    '    ▸ Write the business case 1/2  1✓ 2▸',
    '· Review, Result',
  ]);
  expect(lines[4]).toBe('  2 a-mod…  Business Case of…  ~1,250 tokens  12 s');
  expect(lines.slice(-3)).toEqual([
    '6 of about 40 calls · 2 in flight, 4 queued',
    '120,345 tokens · $0.0312 of $1.00',
    '48 s, about 2 min 5 s left',
  ]);
});

test.each([3, 5, 7, 9, 11, 13, 24])('a window of %i rows is never too low', (rows) => {
  const lines = draw(50, rows);
  expect(lines.length).toBeLessThan(rows);
  expect(lines.at(-1)).toContain('48 s');
});

test('what does not fit is counted', () => {
  expect(draw(100, 6)).toEqual([
    '▸ Proposal 3 of 8',
    expect.stringContaining('~1,250 tokens'),
    '  … 2 more',
    expect.stringContaining('6 of about 40 calls'),
    expect.stringContaining('48 s'),
  ]);
});

test('unknown prices, token caps and pauses are said; without a pace, or paused, no time left', () => {
  const unpriced = { ...facts, costMicros: 0, unpriced: 3, secondsLeft: null };
  expect(draw(200, 24, view, unpriced).at(-1)).toMatch(/tokens · price unknown · 48 s$/);
  const some = { ...facts, unpriced: 3, budgetTokens: 500_000, gates: ['budget'] };
  expect(draw(200, 24, view, some).at(-1)).toBe(
    '6 of about 40 calls · 2 in flight, 4 queued · paused (budget) · 120,345 of 500,000 tokens' +
      ' · $0.0312 of $1.00 and 3 calls at unknown prices · 48 s',
  );
});
