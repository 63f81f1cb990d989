import { activeSteps, findStage, isProduced } from '../recipe/edges.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { type LaneStates, lanesNeeded } from './ready.ts';

/** A lane that ended in a stage before its steps did, with the steps that failed in it. */
export type LostLane = { readonly laneId: string; readonly steps: readonly string[] };

/**
 * The failed lanes without which a stage goes on. The policy of each step that failed there decides:
 * `any` and `quorum` by how many lanes delivered it, `all` by the policies of the steps that read it
 * from all lanes. A quorum of a reader holds for everything that the lane left unwritten.
 */
export function excuseLanes(request: {
  readonly process: Process;
  readonly stageKey: string;
  /** The lanes that take part in the stage. */
  readonly laneIds: readonly string[];
  readonly lost: readonly LostLane[];
  readonly states: LaneStates;
}): string[] {
  const { process, stageKey, laneIds, lost, states } = request;
  const stage = findStage(process, stageKey);
  if (stage === undefined) return [];
  const steps = activeSteps(stage);
  /** Lanes that delivered the step, or still may. */
  const count = (step: Step): number =>
    laneIds.filter((id) => states[id]?.[step.key] !== 'failed').length;
  const bears = (step: Step): boolean => {
    const readers = readersOf(process, stage, step);
    const deciding = step.dependencyPolicy === 'all' ? readers : [step];
    return deciding.length > 0 && deciding.every((one) => suffices(one, count(step)));
  };
  const suffices = (step: Step, delivered: number): boolean =>
    step.dependencyPolicy !== 'all' && delivered >= lanesNeeded(step, laneIds.length);
  const keepsQuorum = (step: Step): boolean =>
    readersOf(process, stage, step)
      .filter((reader) => reader.dependencyPolicy === 'quorum')
      .every((reader) => suffices(reader, count(step)));
  return lost
    .filter(({ laneId, steps: failed }) => {
      const unwritten = steps.filter((step) => states[laneId]?.[step.key] === 'failed');
      const guilty = steps.filter((step) => failed.includes(step.key));
      return guilty.length > 0 && guilty.every(bears) && unwritten.every(keepsQuorum);
    })
    .map(({ laneId }) => laneId);
}

/** The steps of any stage that cannot do without what the step makes in every lane. */
const readersOf = (process: Process, stage: Stage, { output }: Step): Step[] =>
  process.stages.flatMap((one) =>
    activeSteps(one).filter((step) =>
      step.inputs.some(
        (input) =>
          isProduced(input) &&
          input.required &&
          input.scope === 'all' &&
          input.iteration === 'current' &&
          input.stage === stage.key &&
          input.documentKey === output.documentKey,
      ),
    ),
  );
