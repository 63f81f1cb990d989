import { describe, expect, test } from 'vitest';
import { shipped } from '../../test/session/trivial.ts';
import { expectedCounts } from '../planning/expected-counts.ts';
import { foreseeCalls } from './foresee-calls.ts';

const process = shipped('software-plan');

describe('the calls that are foreseen', () => {
  test.each(['software-plan', 'decision-memo'])('of %s are those of the planners', (name) => {
    for (const models of [['x/a'], ['x/a', 'x/b'], ['x/a', 'x/b', 'x/a', 'x/c']]) {
      const calls = foreseeCalls({ process: shipped(name), models });
      const counts = expectedCounts(shipped(name), models.length);
      expect(calls.length).toBe(counts.calls);
      expect(new Set(calls.map(({ model }) => model))).toEqual(new Set(models));
    }
  });

  test('end with the stage after which the run stops', () => {
    const calls = foreseeCalls({ process, models: ['x/a', 'x/b'], untilStage: 'antithesis' });
    expect(new Set(calls.map(({ job }) => job.stage))).toEqual(new Set(['thesis', 'antithesis']));
    expect(calls.length).toBe(38);
  });

  test('are those of the writer alone after the stage that the process names', () => {
    const calls = foreseeCalls({ process, models: ['x/a', 'x/b'], writer: 2 });
    const late = calls.filter(({ job }) => ['parenthesis', 'paralysis'].includes(job.stage));
    expect(late.map(({ model }) => model)).toEqual(Array.from({ length: 8 }, () => 'x/b'));
    expect(calls.filter(({ model }) => model === 'x/a').length).toBe(44);
  });

  test('are refused where the stage to stop after does not exist', () => {
    const foresee = (): unknown => foreseeCalls({ process, models: ['x/a'], untilStage: 'nope' });
    expect(foresee).toThrow(/No stage nope; there are thesis/);
  });
});
