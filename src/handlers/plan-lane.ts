import type { Database } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';
import type { JobContext } from '../jobs/context.ts';
import { readStanding } from '../jobs/lanes.ts';
import type { Job } from '../jobs/types.ts';
import { readPlanningView } from '../session/planning-view.ts';
import { readStagePayload } from '../session/stages.ts';
import { planWave } from './plan-wave.ts';

/** The PLAN job of a lane plans the steps that can run now; it waits for other lanes if it must. */
export async function planLane(database: Database, { job, commit }: JobContext): Promise<void> {
  const { stageRunId, laneId } = placeOf(job);
  const reads = database.readsOf(job.tenantId);
  const { stage: stageKey, iteration } = readStagePayload(job);
  // Given before any of them is awaited, the statements take one round trip. Where the lanes stand comes
  // first: whatever is called done there has its documents.
  const [standing, view] = await Promise.all([
    readStanding(reads, stageRunId),
    readPlanningView(reads, { id: job.sessionId, iteration }),
  ]);
  const { readiness, children, thenEnd } = planWave(view, { stageKey, laneId }, standing);
  if (readiness.ready.length > 0) {
    return commit({ children, next: { waitFor: 'children', thenEnd } });
  }
  if (readiness.waitingForLanes.length > 0) {
    return commit({ next: { waitFor: 'lanes', version: standing.version } });
  }
  const stuck = [...readiness.blocked, ...readiness.waiting];
  if (stuck.length > 0) {
    throw new DialecticError(
      'lane_blocked',
      `Steps of stage ${stageKey} cannot run because what they need has failed: ${stuck.join(', ')}.`,
      { details: { stage: stageKey, steps: stuck } },
    );
  }
}

/** Where the root of a lane belongs: it was inserted with both. */
function placeOf({ id, stageRunId, laneId }: Job) {
  if (stageRunId !== null && laneId !== null) return { stageRunId, laneId };
  throw new DialecticError('internal_error', `Job ${id} plans a lane and has none.`);
}
