import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Process } from './types.ts';
import { processFromVersion, versionOf } from './version.ts';

/** A process as release 0.1.0 stored it: without the fields that came later. */
function asStoredBefore(process: Process): Process {
  const gone = ['firstPage', 'replaced', 'askStage', 'resultStage', 'depth', 'omitted'];
  const inSteps = ['compute', 'checks', 'extends', 'rewrites', 'alone'];
  const without = (value: object, keys: readonly string[]): object =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
  return {
    ...without(process, gone),
    workItems: null,
    results: process.results.map(({ stage: key, documentKey }) => ({ stage: key, documentKey })),
    stages: process.stages.map((one) => ({
      ...without(one, ['lanes']),
      steps: one.steps.map((own) => without(own, inSteps)),
    })),
  } as unknown as Process;
}

test('a process that an earlier release stored can be run on', () => {
  const process: Process = {
    ...processOf('old', [stage('only', [step('plan', 'PLAN', 'all_to_one', 'x', ['seed:only/'])])]),
    results: [{ stage: 'only', documentKey: 'x', folder: null }],
  };
  const { manifest, stages } = versionOf(asStoredBefore(process));
  expect(processFromVersion(manifest, stages)).toEqual(process);
});
