import type { StageStanding } from '../jobs/lanes.ts';
import type { StepState } from '../planning/ready.ts';
import { stageOf } from '../recipe/edges.ts';
import type { Process } from '../recipe/types.ts';

/** Where each lane of a stage stands, as planning sees it; what a lost lane left open has failed. */
export function toLaneStates(
  process: Process,
  stageKey: string,
  standing: Pick<StageStanding, 'steps'>,
) {
  const { steps } = stageOf(process, stageKey);
  const states: Record<string, Record<string, StepState>> = {};
  for (const [laneId, lane] of standing.steps) {
    const own: Record<string, StepState> = {};
    for (const { key } of steps) {
      const state = lane.get(key);
      if (state === 'completed') own[key] = 'done';
      else if (state === 'failed' || lane.has('*')) own[key] = 'failed';
      else if (state !== undefined) own[key] = 'planned';
    }
    states[laneId] = own;
  }
  return states;
}
