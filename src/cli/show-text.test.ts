import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { RunResult } from '../session/summary.ts';
import { describeSession, type Shown } from './show-text.ts';

const keys = Array.from({ length: 12 }, (_, at) => `part_${at}`);
const steps = [...keys, 'header'].map((key) =>
  step(key, 'EXECUTE', 'all_to_one', key, ['seed:draft/']),
);
const process = processOf('memo', [stage('draft', steps), stage('later', [])]);
const models = ['a/one', 'b/two'];
const documents = models.flatMap((model, at) =>
  [...keys, 'header'].map((key) => ({
    id: `0-${at}-${key}`,
    stage: 'draft',
    key,
    model,
    lane: at + 1,
    iteration: 2,
    version: 1,
    costUsd: 0.5,
    dataPath: `${key}.json`,
    path: key === 'header' ? null : `draft/${key}.md`,
    rerun: key === 'part_0' && at === 0 ? 'written by 2 b/two' : null,
    style: key === 'part_1' ? { sentences: 40, averageWords: 14.6, fragments: 0.04 } : null,
  })),
);
const shown = {
  info: { id: 'session', project: 'Sundays', iteration: 2, createdAt: '2026-03-08T11:00:00Z' },
  view: {
    process,
    lanes: models.map((model, at) => ({ id: model, ordinal: at + 1, model })),
    iteration: 2,
  },
  result: {
    ...({ standing: 'paused (budget)', calls: 26, documentCount: 24, iteration: 2 } as RunResult),
    documents: [...documents, { ...documents[0], id: 'old', iteration: 1 }],
    usage: { inputTokens: 9_000, outputTokens: 1_000, costUsd: 13 } as RunResult['usage'],
  },
  costs: { byStage: [{ stage: 'draft', calls: 26, usd: 13, tokens: 1 }], unknownPrices: [] },
  budgetUsd: 15,
  now: new Date('2026-03-08T12:00:00Z'),
} as unknown as Shown;

test('a document of the result is shown with the style of its sentences', () => {
  expect(describeSession(shown, false)[5]).toBe(
    '  Anything (part_1) · 1 2 · 15 words a sentence, 4 % without a verb',
  );
});

test('a stage takes ten lines at most, whatever it wrote, with its money', () => {
  const lines = describeSession(shown, false);
  expect(lines.slice(0, 5)).toEqual([
    'Sundays · memo · pass 2 · paused (budget)',
    'session session · started 1 h ago',
    '1 a/one · 2 b/two',
    'draft · 26 calls · $13.00',
    '  Anything (part_0) · 1 2',
  ]);
  expect(lines.filter((line) => line.startsWith('  '))).toHaveLength(9);
  expect(lines.slice(-3)).toEqual([
    '  and 4 more: dialectic show --all',
    'later · not begun',
    'In all: 26 calls in 2 passes, 24 documents, 10,000 tokens, $13.00 of $15.00',
  ]);
});

test('--all lists every document, with id, name, author, cost and path', () => {
  const lines = describeSession(shown, true);
  expect(lines.filter((line) => line.startsWith('  '))).toHaveLength(27);
  expect(lines).toContain(
    '  1-header  header@2  Anything, pass 2 v1 · b/two · $0.5000 · header.json',
  );
  expect(lines.join('\n')).toContain('v1 · a/one, written by 2 b/two · $0.5000 · draft/part_0.md');
});

test('a draft is left out once the document that takes its place is there', () => {
  const of = (documentKey: string) => ({ stage: 'draft', documentKey });
  const replaced = [
    { ...of('part_0'), by: of('part_1') },
    { ...of('part_2'), by: of('none') },
  ];
  const view = { ...shown.view, process: { ...process, replaced } };
  const text = describeSession({ ...shown, view }, false).join('\n');
  expect(text).not.toContain('(part_0)');
  expect(text).toContain('(part_1)');
  expect(text).toContain('(part_2)');
  expect(describeSession({ ...shown, view }, true).join('\n')).toContain('part_0@1');
});

test('a stage whose first calls are in flight has begun', () => {
  const result = { ...shown.result, stage: 'later' };
  expect(describeSession({ ...shown, result }, false)).toContain('later · begun');
});
