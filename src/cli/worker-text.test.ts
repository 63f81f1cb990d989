import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { describeJob } from './worker-text.ts';

const draft = step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:draft/']);
const session = {
  id: '01980000-0000-7000-8000-0123456789ab',
  process: processOf('memo', [stage('draft', [draft])]),
  lanes: [{ id: 'lane', ordinal: 2, model: 'a/one' }],
};
const job = {
  kind: 'job-ended' as const,
  session: session.id,
  type: 'EXECUTE',
  step: 'draft',
  lane: 'lane',
  ms: 1_240,
  error: null,
};

test('a worker tells what was written by whom, and every failure with its reason', () => {
  expect(describeJob(job, session)).toEqual(['done  456789ab  draft: Anything by 2 a/one · 1.2 s']);
  const error = { code: 'provider_auth', message: 'The key was refused.' };
  const planning = { ...job, type: 'PLAN', step: null, lane: null };
  expect(describeJob({ ...planning, error }, session)).toEqual([
    'fail  456789ab  PLAN job · 1.2 s: The key was refused. (provider_auth)',
  ]);
  expect(describeJob(planning, session)).toEqual([]);
});
