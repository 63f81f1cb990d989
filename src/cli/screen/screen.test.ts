import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { processOf, stage, step } from '../../../test/recipes/build.ts';
import { describeOutage } from '../../models/circuit-breaker.ts';
import type { SessionView } from '../../session/read.ts';
import { NO_EVENTS, reduceSession } from '../../session/session-state.ts';
import { job, told } from './run-events.fixture.ts';
import { openScreen } from './screen.ts';

const NAMES = ['offline/builder', 'offline/skeptic', 'openrouter/a-model-with-a-long-name'];
const session = {
  process: processOf('p', [
    stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
    stage('critique', [step('judge', 'EXECUTE', 'all_to_one', 'review', ['seed:critique/'])]),
  ]),
  lanes: NAMES.map((model, at) => ({ id: `lane-${at + 1}`, ordinal: at + 1, model })),
  untilStage: null,
  writerLaneId: null,
} as unknown as SessionView;
const stateWith = (tokens: number) => ({ ...NO_EVENTS, tokens });
const NO_CAPS = { budgetMicros: null, budgetTokens: null };

async function open(terminal: Terminal, shown: SessionView = session) {
  const screen = await openScreen(shown, NO_CAPS, terminal);
  onTestFinished(() => screen.close());
  return screen;
}

/** A terminal that obeys the few sequences which move the cursor and erase. */
class Terminal extends Writable {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly screen: string[] = [''];
  raw = '';
  /** Bits of colour; 1 = none, as NO_COLOR or a plain terminal has it. */
  colours = 1;
  #row = 0;
  #column = 0;

  constructor(columns: number, rows = 24, isTTY = true) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
    this.isTTY = isTTY;
  }

  getColorDepth(): number {
    return this.colours;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.raw += text;
    const parts = text.matchAll(/\p{Cc}\[(?<arg>[?\d]*)(?<verb>[A-Za-z])|(?<unit>\n|.)/gu);
    for (const { groups } of parts) this.#obey(groups!['verb'], groups!['arg'], groups!['unit']);
    done();
  }

  #obey(verb: string | undefined, arg: string | undefined, unit: string | undefined): void {
    const count = Number(arg) || 1;
    if (unit === '\n') [this.#row, this.#column] = [this.#row + 1, 0];
    else if (unit !== undefined) this.#put(unit);
    else if (verb === 'A') this.#row = Math.max(0, this.#row - count);
    else if (verb === 'B') this.#row += count;
    else if (verb === 'G') this.#column = count - 1;
    else if (verb === 'K' && arg === '2') this.screen[this.#row] = '';
    else if (verb === 'K') this.#put('', this.#column);
    else if (verb !== 'm') expect(arg).toMatch(/^\?2026$/);
    this.screen[this.#row] ??= '';
  }

  #put(unit: string, end?: number): void {
    expect(this.#column).toBeLessThanOrEqual(this.columns);
    const line = this.screen[this.#row] ?? '';
    const rest = end === undefined ? line.slice(this.#column + 1) : '';
    this.screen[this.#row] = line.slice(0, this.#column).padEnd(this.#column) + unit + rest;
    this.#column += unit.length;
  }
}

describe.each([80, 50])('on a terminal of %i columns', (columns) => {
  test('the screen is drawn once, however often it changes', async () => {
    const terminal = new Terminal(columns);
    const screen = await open(terminal);
    for (const tokens of [0, 1000, 1_000_000]) screen.draw(stateWith(tokens));
    const text = terminal.screen.join('');
    expect(text.match(/offline\/builder/g)).toHaveLength(1);
    expect(text.match(/calls/g)).toHaveLength(1);
    expect(text).toContain('1,000,000 tokens');
    expect(terminal.screen.every((line) => line.length <= columns)).toBe(true);
  });

  test('a line that is told stays above the screen', async () => {
    const terminal = new Terminal(columns);
    const screen = await open(terminal);
    screen.draw(stateWith(1));
    screen.tell('Waits for the provider.');
    for (const tokens of [2, 3]) screen.draw(stateWith(tokens));
    expect(terminal.screen[0]).toBe('Waits for the provider.');
    const under = terminal.screen.slice(1).join('');
    expect(under.match(/calls/g)).toHaveLength(1);
    expect(under).toContain('3 tokens');
  });

  test('a long line that is told is broken between words', async () => {
    const terminal = new Terminal(columns);
    const screen = await open(terminal);
    const words =
      'Nothing new starts. Four calls under way are let finish, and cost what they cost.';
    screen.tell('Two\nlines.');
    screen.tell(words);
    screen.news([failed]);
    const lines = terminal.screen.map((line) => line.trimEnd());
    const end = lines.findIndex((line) => line.endsWith('cost.'));
    expect(lines.slice(0, 2)).toEqual(['Two', 'lines.']);
    expect(lines.slice(2, end + 1).join(' ')).toBe(words);
    expect(lines.every((line) => line.length <= columns)).toBe(true);
  });

  test('a window that is too low shows the sums', async () => {
    const terminal = new Terminal(columns, 4);
    const screen = await open(terminal);
    for (const tokens of [1, 2]) screen.draw(stateWith(tokens));
    expect(terminal.screen.join('')).toContain('2 tokens');
    expect(terminal.screen.join('')).not.toContain('offline/builder');
  });
});

const write = { stage: 'thesis', step: 'write', lane: 2 };
const path = 'session_5e6f/iteration_1/1_thesis/documents/offline-skeptic_1_case.md';
const rendered = told('document-rendered', {
  ...write,
  documentKind: 'document',
  version: 1,
  path,
});
const retried = job('job-retried', write, {
  error: { code: 'provider_unavailable', message: 'compatible/m: 503.' },
  attempt: 1,
  nextTryAt: '2026-11-15T20:00:08.000Z',
});
const failed = job('job-failed', write, {
  error: { code: 'model_output_invalid', message: 'No JSON.' },
});
const follows = job('job-failed', write, { error: { code: 'child_failed', message: 'x' } });

test('where there is no terminal, stages, documents, retries and failures get lines', async () => {
  const output = new Terminal(300, 24, false);
  const screen = await open(output);
  screen.draw(stateWith(1));
  screen.draw(stateWith(2));
  screen.tell('Waits\u001b[2J.');
  screen.news([rendered, retried, failed, follows]);
  // Told by a process that looks on from the second minute: the clock is the session's.
  const at = new Date(Date.now() - 65_000).toISOString();
  const begun = [told('session-started', { at }), told('stage-started', { stage: 'thesis' })];
  for (let times = 0; times < 2; times++) screen.draw(reduceSession(NO_EVENTS, begun));
  expect(output.raw.trimEnd().split('\n')).toEqual([
    'Starting: 0 of about 6 calls · 0 in flight, 0 queued · 1 tokens · $0 · 0 s',
    'Waits[2J.',
    `✓ Anything · ${path}`,
    expect.stringMatching(
      /^↻ 2 skeptic, Anything: try 2 at .*, in \d+ s\. compatible\/m: 503\. \(provider_unavailable\)$/,
    ),
    '✗ 2 skeptic, Anything: No JSON. (model_output_invalid)',
    expect.stringMatching(
      /^thesis: 0 of about 6 calls · 0 in flight, 0 queued · 0 tokens · \$0 · 1 min [5-9] s$/,
    ),
  ]);
});

test('jobs that wait for a provider get a line when it goes away, and one when it answers', async () => {
  const output = new Terminal(300, 24, false);
  const screen = await open(output);
  const refused = (provider: string, lane: number) =>
    job(
      'job-retried',
      { ...write, lane },
      {
        error: { code: 'provider_circuit_open', message: describeOutage(provider) },
        attempt: 0,
        nextTryAt: '2026-11-15T20:00:08.000Z',
      },
    );
  const ended = (model: string, outcome: string) => told('call-ended', { model, outcome });
  screen.news([refused('lab', 1), refused('lab', 2), refused('other', 3)]);
  screen.news([ended('lab/p1', 'failed'), refused('lab', 1), ended('far/m', 'received')]);
  screen.news([ended('lab/p1', 'received'), refused('lab', 2), ended('lab/p2', 'received')]);
  screen.news([ended('lab/p1', 'failed'), refused('lab', 1)]);
  const away = (provider: string) => `↻ ${describeOutage(provider)} (provider_circuit_open)`;
  expect(output.raw.trimEnd().split('\n')).toEqual([
    away('lab'),
    away('other'),
    '✓ lab answers again.',
    away('lab'),
  ]);
});

test('a finished document is told by its path, shortened in the middle where it must be', async () => {
  for (const [columns, line] of [
    [50, '✓ Anything · session_5…s/offline-skeptic_1_case.md'],
    [90, `✓ Anything · ${path}`],
  ] as const) {
    const terminal = new Terminal(columns);
    (await open(terminal)).news([rendered]);
    expect(terminal.screen[0]).toBe(line);
  }
});

test('the last frame makes no guess at what would follow', async () => {
  const terminal = new Terminal(200);
  const screen = await openScreen(session, NO_CAPS, terminal);
  screen.draw(NO_EVENTS);
  const done = [1, 2, 3].map((lane) => job('job-completed', { ...write, lane }));
  screen.draw(reduceSession(NO_EVENTS, done));
  expect(terminal.screen.join('')).toMatch(/about \d+ s left/);
  screen.close();
  expect(terminal.screen.join('')).not.toMatch(/left/);
  expect(terminal.screen.join('')).toContain('0 in flight');
});

test('colours are used where the terminal has them, and only there', async () => {
  const [colourful, plain] = [new Terminal(80), new Terminal(80)];
  colourful.colours = 8;
  for (const terminal of [colourful, plain]) {
    const screen = await open(terminal);
    screen.news([failed]);
  }
  const red = '\u001b[31m✗ 2 skeptic, Anything: No JSON. (model_output_invalid)';
  expect(colourful.raw).toContain(red);
  expect(plain.raw).not.toMatch(/\p{Cc}\[\d+m/u);
  expect(stripVTControlCharacters(colourful.raw)).toBe(stripVTControlCharacters(plain.raw));
});

test('what a model is called cannot move the cursor', async () => {
  const terminal = new Terminal(80);
  const lanes = ['x/\u001b[2J', 'y'].map((model, at) => ({ id: `${at}`, ordinal: at + 1, model }));
  (await open(terminal, { ...session, lanes })).draw(stateWith(1));
  expect(terminal.screen[0]).toBe('1 x/[2J · 2 y');
});

test('without a terminal it tells what is read for a call, and not every second', async () => {
  const output = new Terminal(80, 24, false);
  const screen = await open(output);
  const read = (done: number) =>
    told('parts-read', { jobId: 'thesis/write/1', title: 'Annals', done, all: 1_024 });
  screen.news([read(64), read(128)]);
  screen.news([read(192)]);
  expect(output.raw).toBe('Reading Annals: 128 of 1,024 parts\n');
});
