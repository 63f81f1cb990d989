import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Dialectic } from '../api/dialectic.ts';
import type { RunResult } from '../session/summary.ts';
import { describeStage, readStageToReview } from './review-text.ts';

const draft = step('write', 'EXECUTE', 'all_to_one', 'draft', ['seed:propose/']);
const process = processOf('memo', [stage('propose', [draft]), stage('decide', [])]);
const lanes = [{ id: 'lane', ordinal: 1, model: 'a/one' }];

/** A session in its second pass, as the API tells of it. */
const dialectic = {
  session: async () => ({ process, lanes, iteration: 2 }),
  document: async (_session: string, id: string) => ({ markdown: `# Draft\n\nWritten in ${id}.` }),
  questions: async () => [],
} as unknown as Dialectic;
const written = [1, 2].map((iteration) => ({
  id: `pass ${iteration}`,
  stage: 'propose',
  key: 'draft',
  model: 'a/one',
  lane: 1,
  iteration,
  path: `iteration_${iteration}/draft.md`,
}));

test('a stage of a later pass is reviewed by what that pass wrote', async () => {
  const result = { session: 'x', documents: written } as unknown as RunResult;
  const lines = describeStage(await readStageToReview(dialectic, result, 'propose'));
  expect(lines).toEqual([
    '',
    'propose is done and waits for you: 1 document.',
    '  d1  Anything · one',
    '      Written in pass 2.',
    '      ./iteration_2/draft.md',
  ]);
});
