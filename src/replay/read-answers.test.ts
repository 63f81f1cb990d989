import { describe, expect, test } from 'vitest';
import { constructPath, type Work } from '../documents/paths.ts';
import type { CallSubject } from '../models/types.ts';
import { readAnswers } from './read-answers.ts';

const MODELS = ['a/one', 'a-one', 'b/two'];
const work: Work = {
  session: 'abcdefabcdef',
  iteration: 1,
  stageNumber: 2,
  stage: 'review',
  author: { model: 'b-two', copy: 1 },
  relation: null,
  attempt: 1,
  documentKey: 'critique',
};

const file = (text: string, more: Partial<Work> = {}, inside: object = {}): [string, string] => [
  constructPath({ ...work, ...more, kind: 'raw_response', continuation: null }),
  JSON.stringify({ model: 'b/two', finish: 'stop', text, ...inside }),
];

const subject = (more: Partial<CallSubject> = {}): CallSubject => ({
  stage: 'review',
  documentKey: 'critique',
  iteration: 1,
  lane: 3,
  about: [3],
  before: [],
  ...more,
});

const read = (...files: [string, string][]) => readAnswers('run', new Map(files), MODELS);
const find = (asked: Partial<CallSubject>, ...files: [string, string][]): string[] =>
  read(...files)
    .answersFor(subject(asked))
    .map(({ text }) => text);

describe('an answer is found', () => {
  test('by the proposal that it responds to, also where two models have one file name', () => {
    const on = (copy: number) => ({
      relation: { kind: 'critiquing' as const, source: { model: 'a-one', copy } },
    });
    const files = [file('on one', on(1)), file('on the other', on(2))];
    expect(find({ about: [1] }, ...files)).toEqual(['on one']);
    expect(find({ about: [2] }, ...files)).toEqual(['on the other']);
    expect(find({ about: [3] }, ...files)).toEqual([]);
  });

  test('by the pair that it merges, in its order', () => {
    const pair = (first: number, second: number) => ({
      relation: {
        kind: 'from' as const,
        sources: [first, second].map((copy) => ({ model: 'a-one', copy })),
      },
    });
    const files = [file('1 and 2', pair(1, 2)), file('2 and 1', pair(2, 1))];
    expect(find({ about: [2, 1] }, ...files)).toEqual(['2 and 1']);
  });

  test('without a name for it where a participant made only one, unless that was on another', () => {
    expect(find({ about: [1] }, file('old'))).toEqual(['old']);
    expect(find({ about: [1] }, file('on 1', {}, { about: [1] }))).toEqual(['on 1']);
    expect(find({ about: [2] }, file('on 1', {}, { about: [1] }))).toEqual([]);
  });

  test('in the latest version, wherever the stage stands in the process', () => {
    const files = [file('first'), file('second', { attempt: 2, stageNumber: 5 })];
    expect(find({}, ...files)).toEqual(['second']);
  });

  test('by stage, document, pass and participant', () => {
    const others = [{ stage: 'x' }, { documentKey: 'x' }, { iteration: 2 }, { lane: 1 }];
    for (const other of others) expect(find(other, file('this'))).toEqual([]);
    expect(find({ lane: 9 }, file('this'))).toEqual([]);
  });
});

test('an answer brings what it used and cost; one of an earlier release does not know', () => {
  const usage = { inputTokens: 9, outputTokens: 4, cachedInputTokens: 1, estimated: false };
  const [known] = read(file('x', {}, { usage, costUsd: 0.000123 })).answersFor(subject());
  expect(known).toMatchObject({ usage: { ...usage, cacheWriteTokens: 0 }, costMicros: 123 });
  const [old] = read(file('x')).answersFor(subject());
  expect(old).toMatchObject({ usage: null, costMicros: null });
});

test('what is no answer is named', () => {
  const [path] = file('x');
  for (const text of ['{', '{"finish":"stop"}', '{"finish":"late","text":""}', 'null']) {
    expect(() => read([path, text])).toThrow(/critique_raw\.json is not an answer/);
  }
});
