import { z } from 'zod';
import type { TenantQueries } from '../db/transaction.ts';
import type { ChildJob } from '../jobs/context.ts';
import { readPayload } from '../jobs/read-payload.ts';
import type { Job } from '../jobs/types.ts';
import type { Pass, SessionView } from './read.ts';

const stagePayload = z.object({ stage: z.string(), iteration: z.int() }).readonly();

/** The payload of a stage's own job and of its lanes' roots. */
export type StagePayload = z.infer<typeof stagePayload>;

export const readStagePayload = (job: Pick<Job, 'id' | 'type' | 'payload'>): StagePayload =>
  readPayload(stagePayload, job);

/** The last statements of a transaction, all given before one of them is awaited. */
export type AtOnce = () => Promise<unknown>;

/** The lanes that take part in each stage of the pass, whether or not they came through. */
export async function readStageLanes(
  tx: TenantQueries,
  pass: Pass,
): Promise<Record<string, readonly string[]>> {
  // By the index of lane roots: the session has many more jobs than that.
  const rows = await tx.query<{ stage_key: string; lane_id: string }>(
    `select r.stage_key, j.lane_id from stage_runs r
     join jobs j on j.tenant_id = r.tenant_id and j.stage_run_id = r.id and j.role = 'lane'
     where r.session_id = $1 and r.iteration = $2 order by j.seq`,
    [pass.id, pass.iteration],
    'read-stage-lanes',
  );
  // A stage may be called `constructor`, which every other object has already.
  const lanes = Object.create(null) as Record<string, string[]>;
  for (const row of rows) (lanes[row.stage_key] ??= []).push(row.lane_id);
  return lanes;
}

/** One root for each lane of the stage; a failing lane does not stop another one. */
export function planLaneRoots(
  session: SessionView,
  stageKey: string,
): (ChildJob & { readonly laneId: string })[] {
  const payload: StagePayload = { stage: stageKey, iteration: session.iteration };
  return lanesOf(session, stageKey).map((lane) => ({
    type: 'PLAN' as const,
    role: 'lane' as const,
    laneId: lane.id,
    policy: 'any' as const,
    payload,
    idempotencyKey: `${session.id}/${session.iteration}/${stageKey}/${lane.ordinal}`,
  }));
}

/** Everybody, the lane that was chosen, or, after the stage that the process names, one writer. */
export function lanesOf(session: SessionView, stageKey: string) {
  const { process, writerLaneId, chosenLaneId, lanes } = session;
  const stage = process.stages.find((one) => one.key === stageKey);
  if (stage?.lanes === 'chosen') return lanes.filter((lane) => lane.id === chosenLaneId);
  const order = process.stages.map((stage) => stage.key);
  const from = process.writerAfter ? order.indexOf(process.writerAfter) : -1;
  const alone = writerLaneId !== null && from >= 0 && order.indexOf(stageKey) > from;
  return alone ? lanes.filter((lane) => lane.id === writerLaneId) : lanes;
}
