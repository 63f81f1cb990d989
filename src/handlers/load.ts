import { keepsCalendar } from '../checks/collect-records.ts';
import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import { readNextVersion } from '../documents/documents.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import {
  type Chunk,
  type ExecutePayload,
  findStanding,
  nextTurn,
  type Standing,
} from '../generation/chain.ts';
import type { JobInput } from '../generation/job-input.ts';
import type { Job } from '../jobs/types.ts';
import type { CallSubject } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { loadHolidays } from '../platform/holidays.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import type { Stage, Step } from '../recipe/types.ts';
import {
  laneOf,
  readFactRows,
  readSession,
  type SessionLane,
  type SessionView,
  toFacts,
} from '../session/read.ts';
import { sourceCache } from '../sources/source-cache.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { type AbandonedCall, findAbandoned } from './checkpoint.ts';
import { readInputDocuments } from './input-documents.ts';
import { loadInputs } from './load-inputs.ts';
import { readOrigin } from './origins.ts';
import { readExecutePayload } from './read-execute-payload.ts';
import { resolveAwaited } from './resolve-awaited.ts';

/** All that an EXECUTE job starts from. */
export type Loaded = Assembly & {
  readonly session: SessionView;
  readonly sources: SourceSet;
  /** The model of the lane on whose branch of the debate the document is written. */
  readonly sourceModel: string;
  readonly standing: Standing;
  readonly chunks: readonly Chunk[];
  /** The version that the document will be. */
  readonly version: number;
  /** A call of this job whose process died. */
  readonly abandoned: AbandonedCall | undefined;
};

/** Reads a chain's texts, its inputs and what its next request is made of. */
export async function load(database: Database, job: Job): Promise<Loaded> {
  const reads = database.readsOf(job.tenantId);
  // Before the first read begins: what throws between two of them leaves the promise of the first to
  // nobody, and its rejection ends the process with the jobs of all tenants.
  const payload = readExecutePayload(job);
  // Given before any of them is awaited, the statements take one round trip.
  const [session, facts, sources, given, chunks, seedPrompt, version, abandoned] =
    await Promise.all([
      readSession(reads, job.sessionId),
      readFactRows(reads, job.sessionId),
      sourceCache.read(reads, job.sessionId),
      readGiven(database, reads, job.sessionId, payload),
      readChunks(reads, job),
      readSeedPrompt(reads, job, payload.planned),
      readNextVersion(reads, job.sessionId, payload.planned.identity),
      findAbandoned(reads, job),
    ]);
  const { planned, originId, documents } = given;
  const inputs = await loadInputs(database, reads, session, planned, documents);
  const stage = stageOf(session.process, planned.stage);
  const step = stepOf(stage, planned.step);
  const lane = laneOf(session, planned.laneId);
  const origin = session.lanes.find(({ id }) => id === originId) ?? lane;
  const standing = findStanding(job.id, payload, chunks);
  const writer = standing.rerun?.lanes.at(-1) ?? planned.laneId;
  return {
    session,
    stage,
    step,
    planned,
    facts: toFacts(session, facts),
    seedPrompt,
    inputs,
    sources,
    // Another participant's, where its own could not mend the citations.
    model: laneOf(session, writer).model,
    turn: nextTurn(standing),
    subject: nameSubject(session, planned, [lane, origin], chunks),
    sourceModel: origin.model,
    ...(await findHolidays(stage, step, inputs)),
    standing,
    chunks,
    version,
    abandoned,
  };
}

/** The table of holidays, where the document or what it reads keeps a calendar. */
async function findHolidays(stage: Stage, step: Step, inputs: readonly JobInput[]) {
  const isChecked = step.checks.length > 0 || step.compute !== null;
  const contracts = [stage.contracts[step.output.contract], ...inputs.map((one) => one.contract)];
  const isKept = contracts.some((contract) => contract && keepsCalendar(contract));
  return isChecked && isKept ? { findCountry: await loadHolidays() } : {};
}

/** What a job was given when it was planned, and what those made that it has waited for. */
async function readGiven(
  database: Database,
  reads: TenantQueries,
  sessionId: string,
  payload: ExecutePayload,
) {
  const planned = await resolveAwaited(reads, sessionId, payload);
  const [originId, documents] = await Promise.all([
    readOrigin(database, reads, planned),
    readInputDocuments(database, reads, planned),
  ]);
  return { planned, originId, documents };
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

async function readChunks(tx: TenantQueries, { chainId }: Job): Promise<Chunk[]> {
  return tx.query<Chunk>(
    `select c.id, c.job_id as "jobId", c.ordinal, c.finish_reason as "finishReason",
       b.body as text
     from contributions c
     join blobs b on b.tenant_id = c.tenant_id and b.hash = c.blob_hash
     where c.chain_id = $1 order by c.ordinal`,
    [chainId],
    'read-chunks',
  );
}

async function readSeedPrompt(tx: TenantQueries, job: Job, planned: PlannedJob): Promise<string> {
  const { body } = await tx.queryOne<{ body: string }>(
    `select b.body from documents d
     join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
     where d.session_id = $1 and d.kind = 'seed_prompt' and d.stage_key = $2 and d.iteration = $3`,
    [job.sessionId, planned.stage, planned.iteration],
    'read-seed-prompt',
  );
  return body;
}
