import type { Database, Transaction } from '../db/database.ts';
import { readBlob } from '../documents/blobs.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import {
  type Chunk,
  type ExecutePayload,
  findStanding,
  nextTurn,
  type Standing,
} from '../generation/chain.ts';
import type { Job } from '../jobs/types.ts';
import type { CallSubject } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import {
  laneOf,
  readFacts,
  readSession,
  type SessionLane,
  type SessionView,
} from '../session/read.ts';
import { type AbandonedCall, findAbandoned } from './checkpoint.ts';
import { loadInputs } from './load-inputs.ts';

/** All that an EXECUTE job starts from, read in one transaction. */
export type Loaded = Assembly & {
  readonly session: SessionView;
  /** The model of the lane on whose branch of the debate the document is written. */
  readonly sourceModel: string;
  readonly standing: Standing;
  readonly chunks: readonly Chunk[];
  /** A call of this job whose process died. */
  readonly abandoned: AbandonedCall | undefined;
};

/** Reads a chain's texts, its inputs and what its next request is made of. */
export const load = (database: Database, job: Job): Promise<Loaded> =>
  database.asTenant(job.tenantId, async (tx) => {
    const payload = job.payload as unknown as ExecutePayload;
    const { planned } = payload;
    const session = await readSession(tx, job.sessionId);
    const stage = stageOf(session.process, planned.stage);
    const step = stepOf(stage, planned.step);
    const lane = laneOf(session, planned.laneId);
    const origin = (await findOrigin(tx, session, planned)) ?? lane;
    const chunks = await readChunks(tx, job);
    const standing = findStanding(job.id, payload, chunks);
    return {
      session,
      stage,
      step,
      planned,
      facts: await readFacts(tx, session),
      seedPrompt: await readSeedPrompt(tx, job, planned),
      inputs: await loadInputs(tx, session, planned),
      model: lane.model,
      turn: nextTurn(standing),
      subject: nameSubject(session, planned, [lane, origin], chunks),
      sourceModel: origin.model,
      standing,
      chunks,
      abandoned: await findAbandoned(tx, job),
    };
  });

/** The lane that began the lineage: for a critique the participant whose proposal it is about. */
async function findOrigin(
  tx: Transaction,
  { lanes }: SessionView,
  { sourceGroup }: PlannedJob,
): Promise<SessionLane | undefined> {
  const [row] = await tx.query<{ lane_id: string | null }>(
    `select j.lane_id from contributions c
     join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
     where c.id = $1`,
    [sourceGroup],
  );
  return lanes.find(({ id }) => id === row?.lane_id);
}

function nameSubject(
  { lanes }: SessionView,
  { stage, documentKey, iteration, respondingLaneId }: PlannedJob,
  [lane, origin]: readonly [SessionLane, SessionLane],
  chunks: readonly Chunk[],
): CallSubject {
  const responding = lanes.find(({ id }) => id === respondingLaneId);
  return {
    stage,
    documentKey,
    iteration,
    lane: lane.ordinal,
    about: [origin, ...(responding ? [responding] : [])].map(({ ordinal }) => ordinal),
    before: chunks.map(({ text }) => text),
  };
}

async function readChunks(tx: Transaction, { chainId }: Job): Promise<Chunk[]> {
  return tx.query<Chunk>(
    `select c.id, c.job_id as "jobId", c.ordinal, c.finish_reason as "finishReason",
       b.body as text
     from contributions c
     join blobs b on b.tenant_id = c.tenant_id and b.hash = c.blob_hash
     where c.chain_id = $1 order by c.ordinal`,
    [chainId],
  );
}

async function readSeedPrompt(tx: Transaction, job: Job, planned: PlannedJob): Promise<string> {
  const seed = await tx.queryOne<{ markdown_hash: string }>(
    `select markdown_hash from documents where session_id = $1
       and kind = 'seed_prompt' and stage_key = $2 and iteration = $3`,
    [job.sessionId, planned.stage, planned.iteration],
  );
  return readBlob(tx, seed.markdown_hash);
}
