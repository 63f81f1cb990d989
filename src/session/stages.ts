import { z } from 'zod';
import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { hashOf, saveBlob } from '../documents/blobs.ts';
import type { ChildJob } from '../jobs/context.ts';
import { insertJobs, tellWorkers } from '../jobs/enqueue.ts';
import { createStageRun } from '../jobs/lanes.ts';
import type { Job } from '../jobs/types.ts';
import { newId } from '../platform/ids.ts';
import { stageOf } from '../recipe/edges.ts';
import { renderSeedPrompt } from '../recipe/render-prompt.ts';
import type { Stage } from '../recipe/types.ts';
import { admitEarlierReferences } from './admit-references.ts';
import { takeUpFeedback } from './feedback.ts';
import { type Pass, readFactRows, readSession, type SessionView, toFacts } from './read.ts';

const stagePayload = z.object({ stage: z.string(), iteration: z.int() }).readonly();

/** The payload of a stage's own job and of its lanes' roots. */
export type StagePayload = z.infer<typeof stagePayload>;

export const readStagePayload = ({ payload }: Pick<Job, 'payload'>): StagePayload =>
  stagePayload.parse(payload);

/** The last statements of a transaction, all given before one of them is awaited. */
export type AtOnce = () => Promise<unknown>;

/** Opens a stage, see `prepareStage`. */
export async function openStage(
  tx: Transaction,
  session: Pick<SessionView, 'id' | 'projectId'>,
  stageKey: string,
): Promise<void> {
  const open = await prepareStage(tx, session, stageKey);
  await open();
}

/**
 * Reads what the opening of a stage needs and returns what opens it: its run, its seed prompt and one
 * job that stands for the stage. The lanes' roots are that job's children, so that the engine itself
 * tells when all lanes are through; it waits for them from the beginning.
 */
export async function prepareStage(
  tx: Transaction,
  { id: sessionId, projectId }: Pick<SessionView, 'id' | 'projectId'>,
  stageKey: string,
): Promise<AtOnce> {
  const [session, known, admitted] = await Promise.all([
    readSession(tx, sessionId),
    readFactRows(tx, sessionId),
    admitEarlierReferences(tx, projectId),
  ]);
  // The seed prompt names a reference by its number, which some have since now.
  const facts = toFacts(session, admitted > 0 ? await readFactRows(tx, sessionId) : known);
  const stage = stageOf(session.process, stageKey);
  const text = renderSeedPrompt(session.process, stage, facts);
  const stageRunId = newId();
  const run = { id: stageRunId, sessionId, iteration: session.iteration, stageKey };
  return () =>
    Promise.all([
      tx.query(`update sessions set status = 'running' where id = $1`, [sessionId]),
      createStageRun(tx, run),
      saveSeedPrompt(tx, session, stage, text),
      takeUpFeedback(tx, session, stageKey, stageRunId),
      insertStageJobs(tx, session, stageKey, stageRunId),
    ]);
}

/** The job that stands for the stage and the roots of its lanes. */
async function insertStageJobs(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
  stageRunId: string,
): Promise<void> {
  const { id: sessionId, iteration } = session;
  const id = newId();
  const place = { sessionId, stageRunId };
  const own = {
    ...place,
    id,
    type: 'PLAN' as const,
    role: 'stage' as const,
    payload: { stage: stageKey, iteration } satisfies StagePayload,
    idempotencyKey: `${sessionId}/${iteration}/${stageKey}`,
  };
  const roots = planLaneRoots(session, stageKey).map((root) => ({
    ...place,
    ...root,
    parentId: id,
  }));
  await Promise.all([
    insertJobs(tx, [own], { status: 'waiting_for_children' }),
    insertJobs(tx, roots),
    tellWorkers(tx),
  ]);
}

async function saveSeedPrompt(
  tx: Transaction,
  session: SessionView,
  stage: Stage,
  text: string,
): Promise<void> {
  const saved = saveBlob(tx, text);
  const inserted = tx.query(
    `insert into documents
       (tenant_id, id, session_id, kind, iteration, stage_key, identity, markdown_hash)
     values ($1, $2, $3, 'seed_prompt', $4, $5, $6, $7)`,
    [
      tx.tenantId,
      newId(),
      session.id,
      session.iteration,
      stage.key,
      `seed_prompt/${session.iteration}/${stage.key}`,
      hashOf(text),
    ],
  );
  await Promise.all([saved, inserted]);
}

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
export function planLaneRoots(session: SessionView, stageKey: string): ChildJob[] {
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
function lanesOf(session: SessionView, stageKey: string) {
  const { process, writerLaneId, chosenLaneId, lanes } = session;
  const stage = process.stages.find((one) => one.key === stageKey);
  if (stage?.lanes === 'chosen') return lanes.filter((lane) => lane.id === chosenLaneId);
  const order = process.stages.map((stage) => stage.key);
  const from = process.writerAfter ? order.indexOf(process.writerAfter) : -1;
  const alone = writerLaneId !== null && from >= 0 && order.indexOf(stageKey) > from;
  return alone ? lanes.filter((lane) => lane.id === writerLaneId) : lanes;
}
