import type { Transaction } from '../db/transaction.ts';
import { enqueueJobs } from '../jobs/enqueue.ts';
import { reopenStageRun } from '../jobs/lanes.ts';
import type { SessionView } from './read.ts';
import { laneOf } from './read.ts';
import { readStageLanes, type StagePayload } from './stages.ts';

/**
 * The first stage of this pass that only the chosen lane writes and that another lane wrote: a person
 * chose differently afterwards.
 */
export async function findOwedStage(
  tx: Transaction,
  session: SessionView,
): Promise<string | undefined> {
  const { process, chosenLaneId } = session;
  const written = await readStageLanes(tx, session);
  return process.stages.find(
    ({ key, lanes }) =>
      lanes === 'chosen' && chosenLaneId !== null && written[key]?.includes(chosenLaneId) === false,
  )?.key;
}

/**
 * Lets the chosen lane write a stage that another lane has written: one more job stands for the same
 * stage run, with the root of that lane alone as its child. What was written stays.
 */
export async function reopenStage(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
): Promise<void> {
  const { id: sessionId, iteration, chosenLaneId } = session;
  await tx.query(`update sessions set status = 'running' where id = $1`, [sessionId]);
  const stageRunId = await reopenStageRun(tx, { sessionId, iteration, stageKey });
  const payload: StagePayload = { stage: stageKey, iteration };
  const { ordinal } = laneOf(session, chosenLaneId);
  const idempotencyKey = `${sessionId}/${iteration}/${stageKey}/chosen/${ordinal}`;
  await enqueueJobs(tx, [
    { sessionId, type: 'PLAN', role: 'stage', stageRunId, payload, idempotencyKey },
  ]);
}
