import { describe, expect, test } from 'vitest';
import { shipped } from '../../test/recipes/shipped.ts';
import { validateProcess } from '../recipe/validate.ts';
import { expectedCounts } from './expected-counts.ts';
import { validateForRun } from './validate-for-run.ts';

const process = shipped('software-plan');
const formula = (n: number): number => 5 * n + 7 * n ** 2 + n * (9 + 4 * n ** 2) + 4 * n + 4 * n;

describe('expectedCounts', () => {
  test('the five stages are a valid recipe of 33 steps', () => {
    expect(validateProcess(process)).toEqual([]);
    const steps = process.stages.flatMap((stage) => stage.steps);
    expect(steps.filter(({ compute }) => compute === null)).toHaveLength(33);
  });

  test.each([
    [1, 33],
    [2, 104],
    [3, 237],
    [5, 785],
    [8, 2672],
  ])('%i participants make %i calls', (lanes, calls) => {
    expect(formula(lanes)).toBe(calls);
    expect(validateForRun(process, lanes)).toEqual([]);
    expect(expectedCounts(process, lanes).calls).toBe(calls);
  });

  test('the calls of each stage follow the formula', () => {
    expect(expectedCounts(process, 3).byStage).toEqual({
      thesis: 15,
      antithesis: 63,
      synthesis: 135,
      parenthesis: 12,
      paralysis: 12,
    });
  });

  test('each pairwise step makes a job for each pair in each lane', () => {
    const { steps } = expectedCounts(process, 3);
    const pairs = steps.filter((step) => step.step.startsWith('synthesis_pairwise'));
    expect(pairs.map((step) => step.calls)).toEqual([27, 27, 27, 27]);
  });

  test('one writer after synthesis makes the later stages run once', () => {
    const lanesOfStage = { parenthesis: 1, paralysis: 1 };
    expect(expectedCounts(process, 3, { lanesOfStage }).byStage).toMatchObject({
      synthesis: 135,
      parenthesis: 4,
      paralysis: 4,
    });
  });

  test('a run beyond the limit is refused before the first call', () => {
    expect(() => expectedCounts(process, 3, { maxJobs: 200 })).toThrow(/more than 200 model calls/);
  });
});
