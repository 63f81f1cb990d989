import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Process, Step } from '../recipe/types.ts';
import { excuseLanes } from './excuse-lanes.ts';
import type { LaneStates } from './ready.ts';

const laneIds = ['one', 'two', 'three'];
const ANY = { dependencyPolicy: 'any' } as const;
const MOST = { dependencyPolicy: 'quorum' } as const;

const process = (write: Partial<Step>, read: Partial<Step> | null): Process =>
  processOf('p', [
    stage('s', [
      step('plan', 'PLAN', 'all_to_one', 'h', ['seed:s/'], write),
      step('write', 'EXECUTE', 'all_to_one', 'x', ['header:s/h'], write),
    ]),
    stage('t', read ? [step('read', 'EXECUTE', 'all_to_one', 'y', ['doc:s/x*@all'], read)] : []),
  ]);

/** The lanes fail in `write`. */
function excuse(recipe: Process, failed: readonly string[], steps = ['write']): string[] {
  const states: LaneStates = Object.fromEntries(
    laneIds.map((id) => [id, { plan: 'done', write: failed.includes(id) ? 'failed' : 'done' }]),
  );
  const lost = failed.map((laneId) => ({ laneId, steps }));
  return excuseLanes({ process: recipe, stageKey: 's', laneIds, lost, states });
}

describe('excuseLanes', () => {
  test.each<[string, Process, number]>([
    ['all, and nobody reads it from all lanes', process({}, null), 0],
    ['all, and who reads it needs all', process({}, {}), 0],
    ['all, and who reads it takes any', process({}, ANY), 2],
    ['all, and who reads it takes most', process({}, MOST), 1],
    ['any', process(ANY, {}), 2],
    ['most', process(MOST, {}), 1],
    ['any, and who reads it takes most', process(ANY, MOST), 1],
  ])('bears a step of policy %s', (_, recipe, borne) => {
    expect(excuse(recipe, ['three'])).toEqual(borne > 0 ? ['three'] : []);
    expect(excuse(recipe, ['two', 'three'])).toEqual(borne > 1 ? ['two', 'three'] : []);
  });

  test('never a lane whose failing step is unknown', () => {
    expect(excuse(process(ANY, ANY), ['three'], [])).toEqual([]);
  });
});
