import type { Transaction } from '../db/database.ts';
import { readBlob } from '../documents/blobs.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import { joinChunks } from '../generation/join-chunks.ts';
import { type ChainState, FIRST_TURN } from '../generation/judge-answer.ts';
import { parseOutput } from '../generation/parse-output.ts';
import type { NextTurn } from '../generation/turn-messages.ts';
import type { Job } from '../jobs/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { readFacts, readSession } from '../session/read.ts';
import { findAbandoned } from './calls.ts';
import { loadInputs } from './load-inputs.ts';

/** The payload of an EXECUTE job; later links of its chain carry where it stands. */
export type ExecutePayload = {
  readonly planned: PlannedJob;
  readonly state?: ChainState;
  /** The chunk (from 1) with which the current attempt at the document begins. */
  readonly from?: number;
  /** What is wrong with that attempt, where the model is asked to write it again. */
  readonly problems?: string;
  /** An attempt that fulfils the contract, for want of a better one. */
  readonly valid?: ChunkRange;
};

/** Chunks of a chain, the first and the last of them included. */
export type ChunkRange = { readonly from: number; readonly to: number };

/** What one model call gave back, in the order of the chain. */
export type Chunk = {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly finishReason: string;
  readonly text: string;
};

/** Where a chain stands when one of its jobs starts. */
export type Standing = {
  readonly state: ChainState;
  readonly from: number;
  readonly problems: string | null;
  /** The attempt that stands if the current one comes to nothing. */
  readonly valid: ChunkRange | null;
  /** The text of the current attempt. */
  readonly soFar: string;
  /** The same text in the pieces that its chunks added. */
  readonly written: readonly string[];
};

/** Everything that one EXECUTE job needs to know, read in one transaction. */
export type ChainView = {
  readonly assembly: Assembly;
  /** The model of the lane on whose branch of the debate the document is written. */
  readonly sourceModel: string;
  readonly standing: Standing;
  readonly chunks: readonly Chunk[];
  /** A call of this job whose process died, with the text that was saved of it. */
  readonly abandoned: { readonly callId: string; readonly text: string } | undefined;
};

/** Reads a chain's texts, its inputs and what its next request is made of. */
export async function readChain(tx: Transaction, job: Job): Promise<ChainView> {
  const { sessionId } = job;
  const payload = job.payload as unknown as ExecutePayload;
  const { planned } = payload;
  const session = await readSession(tx, sessionId);
  const stage = session.process.stages.find((one) => one.key === planned.stage)!;
  const step = stage.steps.find((one) => one.key === planned.step)!;
  const chunks = await readChunks(tx, job);
  const standing = findStanding(job.id, payload, chunks);
  const assembly: Assembly = {
    session,
    stage,
    step,
    planned,
    facts: await readFacts(tx, session),
    seedPrompt: await readSeedPrompt(tx, job, planned),
    inputs: await loadInputs(tx, session, planned),
    model: session.lanes.find((lane) => lane.id === planned.laneId)!.model,
    turn: nextTurn(standing),
  };
  const sourceModel = (await findSourceModel(tx, planned)) ?? assembly.model;
  return { assembly, sourceModel, standing, chunks, abandoned: await findAbandoned(tx, job) };
}

/** Whoever began the lineage: for a critique the participant whose proposal it is about. */
async function findSourceModel(tx: Transaction, { sourceGroup }: PlannedJob) {
  const [row] = await tx.query<{ model: string }>(
    `select l.model from contributions c
     join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
     join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
     where c.id = $1`,
    [sourceGroup],
  );
  return row?.model;
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
  const [seed] = await tx.query<{ markdown_hash: string }>(
    `select markdown_hash from documents where session_id = $1
       and kind = 'seed_prompt' and stage_key = $2 and iteration = $3`,
    [job.sessionId, planned.stage, planned.iteration],
  );
  return readBlob(tx, seed!.markdown_hash);
}

/**
 * Where the chain stands. A job that has a chunk of its own gave up, and a person asked for it
 * again: it goes on from a text that was cut, and begins anew behind anything else.
 */
export function findStanding(
  jobId: string,
  payload: ExecutePayload,
  chunks: readonly Chunk[],
): Standing {
  const { state = FIRST_TURN, from = 1, problems = null, valid = null } = payload;
  const own = chunks.find((chunk) => chunk.jobId === jobId);
  if (!own) return { state, from, problems, valid, ...joinFrom(chunks, from) };
  const start = problems === null ? from : own.ordinal;
  const joined = joinFrom(chunks, start);
  const text = joined.soFar;
  const cut = parseOutput(text, { finished: false }).kind === 'truncated' && text !== '';
  const anew = !cut || chunks.at(-1)!.finishReason === 'content_filter';
  return anew
    ? { ...ANEW, valid, from: chunks.length + 1, soFar: '', written: [] }
    : { ...ANEW, valid, from: start, ...joined };
}

const ANEW = { state: FIRST_TURN, problems: null };

/** Joins the chunks of an attempt, which begins with the named one. */
export function joinFrom(
  chunks: readonly Chunk[],
  from: number,
): Pick<Standing, 'soFar' | 'written'> {
  const pieces = chunks
    .filter(({ ordinal }) => ordinal >= from)
    .map(({ text, finishReason }) => ({ text, finished: finishReason === 'stop' }));
  const { text, added } = joinChunks(pieces);
  return { soFar: text, written: added };
}

function nextTurn({ problems, soFar, written }: Standing): NextTurn | null {
  if (problems !== null) return { kind: 'repair', written, problems };
  return soFar.trim() === '' ? null : { kind: 'continue', written };
}
