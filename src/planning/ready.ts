import { DialecticError } from '../errors/errors.ts';
import { activeSteps, deriveEdges, type Edge, findStage } from '../recipe/edges.ts';
import type { Process, Step } from '../recipe/types.ts';

/** Where a step stands in a lane; one that is absent has not been planned. */
export type StepState = 'planned' | 'done' | 'failed';

export type LaneStates = Readonly<Record<string, Readonly<Record<string, StepState>>>>;

export type Readiness = {
  /** Steps to plan now, in the order of the recipe. */
  readonly ready: readonly string[];
  /** Steps that only other lanes keep waiting. */
  readonly waitingForLanes: readonly string[];
  /** Steps that wait for work of this lane. */
  readonly waiting: readonly string[];
  /** Steps that can never run, because what they need has failed. */
  readonly blocked: readonly string[];
};

type EdgeState = 'open' | 'waiting' | 'waiting_for_lanes' | 'blocked';

/** Which steps of a stage a lane can plan next. Steps that were planned are in none of the lists. */
export function findReadySteps(request: {
  readonly process: Process;
  readonly stageKey: string;
  readonly laneId: string;
  /** The lanes that take part in this stage. */
  readonly laneIds: readonly string[];
  readonly states: LaneStates;
  /** Failed lanes that no barrier waits for. */
  readonly excused?: readonly string[];
}): Readiness {
  const { process, stageKey, laneId, states, excused = [] } = request;
  const stage = findStage(process, stageKey);
  if (stage === undefined) {
    throw new DialecticError('not_found', `The process has no stage ${stageKey}.`);
  }
  const edges = deriveEdges(stage);
  const lists: Record<EdgeState, string[]> = {
    open: [],
    waiting: [],
    waiting_for_lanes: [],
    blocked: [],
  };
  for (const step of activeSteps(stage)) {
    if (states[laneId]?.[step.key] !== undefined) continue;
    const into = edges.filter((edge) => edge.to === step.key);
    const found = into.map((edge) => {
      const gone = excused.filter((id) => states[id]?.[edge.from] !== 'done');
      const lanes = { ids: request.laneIds.filter((id) => !gone.includes(id)), gone: gone.length };
      return judgeEdge(edge, step, laneId, lanes, states);
    });
    lists[worst(found)].push(step.key);
  }
  return {
    ready: lists.open,
    waitingForLanes: lists.waiting_for_lanes,
    waiting: lists.waiting,
    blocked: lists.blocked,
  };
}

const worst = (found: readonly EdgeState[]): EdgeState => {
  const order: readonly EdgeState[] = ['blocked', 'waiting', 'waiting_for_lanes'];
  return order.find((state) => found.includes(state)) ?? 'open';
};

function judgeEdge(
  edge: Edge,
  step: Step,
  laneId: string,
  lanes: { readonly ids: readonly string[]; readonly gone: number },
  states: LaneStates,
): EdgeState {
  const own = states[laneId]?.[edge.from];
  if (own === 'failed' && edge.required && !edge.allLanes) return 'blocked';
  if (own !== 'done' && own !== 'failed') return 'waiting';
  if (!edge.allLanes) return 'open';
  const others = lanes.ids.map((id) => states[id]?.[edge.from]);
  const done = others.filter((state) => state === 'done').length;
  const failed = others.filter((state) => state === 'failed').length;
  const needed = lanesNeeded(step, lanes.ids.length + lanes.gone, lanes.gone);
  if (edge.required && lanes.ids.length - failed < needed) return 'blocked';
  return done + failed === lanes.ids.length ? 'open' : 'waiting_for_lanes';
}

/** How many of the lanes must have delivered for the step to run, where some were excused. */
export function lanesNeeded(
  step: Pick<Step, 'dependencyPolicy' | 'quorum'>,
  lanes: number,
  excused = 0,
): number {
  if (step.dependencyPolicy === 'all') return lanes - excused;
  if (step.dependencyPolicy === 'any') return 1;
  return Math.min(step.quorum ?? Math.floor(lanes / 2) + 1, lanes - excused);
}
