import type { Database } from '../db/database.ts';
import { readBlob } from '../documents/blobs.ts';
import { saveContribution, saveDocument } from '../documents/documents.ts';
import type { ChildJob, JobContext, JobHandler } from '../jobs/context.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelsConfig } from '../models/config.ts';
import { costMicros, findPrice } from '../models/prices.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import type { ModelProvider, ModelRequest, ModelResult } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import type { PlannedJob } from '../planning/types.ts';
import { DialecticError, toDialecticError } from '../platform/errors.ts';
import { contractOf, describeDocument } from '../recipe/contract.ts';
import { readFacts, readSession } from '../session/read.ts';
import { type Assembly, assembleRequest, type NextTurn } from './assemble.ts';
import { beginCall, Checkpoint, endCall, failCall, findAbandoned } from './calls.ts';
import { fillFields } from './fill-fields.ts';
import { loadInputs } from './inputs.ts';
import { joinChunks } from './join-chunks.ts';
import { type ChainState, FIRST_TURN, judge, type Verdict } from './judge.ts';

/** The payload of an EXECUTE job; later links of its chain carry where it stands. */
export type ExecutePayload = {
  readonly planned: PlannedJob;
  readonly state?: ChainState;
  /** The chunk (from 1) with which the current attempt at the document begins. */
  readonly from?: number;
  readonly problems?: string;
};

export type GenerationDeps = {
  readonly database: Database;
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** Text as it arrives, for whoever watches. */
  readonly onDelta?: (job: Job, text: string) => void;
};

/** EXECUTE jobs: one call to a model, from its inputs to a saved chunk, document or next link. */
export function createExecuteHandler(deps: GenerationDeps): JobHandler {
  return async (context) => {
    const { job } = context;
    const payload = job.payload as unknown as ExecutePayload;
    const view = await readView(deps.database, job, payload);
    if (view.abandoned) return saveAbandoned(context, payload, view.abandoned);
    const request = await limitOutput(assembleRequest(view.assembly), deps.config);
    const purpose = payload.problems ? 'repair' : view.soFar === '' ? 'document' : 'continuation';
    const callId = await beginCall(deps.database, job, request, purpose);
    const result = await call(deps, context, callId, request);
    await settle(deps, context, { payload, view, callId, result });
  };
}

type View = Awaited<ReturnType<typeof readView>>;

async function readView(database: Database, job: Job, payload: ExecutePayload) {
  const { tenantId, sessionId } = job;
  const { planned } = payload;
  return database.asTenant(tenantId, async (tx) => {
    const session = await readSession(tx, tenantId, sessionId);
    const stage = session.process.stages.find((one) => one.key === planned.stage)!;
    const step = stage.steps.find((one) => one.key === planned.step)!;
    const [seed] = await tx.query<{ markdown_hash: string }>(
      `select markdown_hash from documents where tenant_id = $1 and session_id = $2
         and kind = 'seed_prompt' and stage_key = $3 and iteration = $4`,
      [tenantId, sessionId, planned.stage, planned.iteration],
    );
    const chunks = await tx.query<{ id: string; ordinal: number; body: string }>(
      `select c.id, c.ordinal, b.body from contributions c
       join blobs b on b.tenant_id = c.tenant_id and b.hash = c.blob_hash
       where c.tenant_id = $1 and c.chain_id = $2 order by c.ordinal`,
      [tenantId, job.chainId],
    );
    const current = chunks.filter(({ ordinal }) => ordinal >= (payload.from ?? 1));
    const soFar = joinChunks(current.map(({ body }) => body)).text;
    const assembly: Assembly = {
      session,
      stage,
      step,
      planned,
      facts: await readFacts(tx, session),
      seedPrompt: await readBlob(tx, tenantId, seed!.markdown_hash),
      inputs: await loadInputs(tx, session, planned),
      model: session.lanes.find((lane) => lane.id === planned.laneId)!.model,
      turn: nextTurn(payload, soFar, chunks.at(-1)?.body ?? ''),
    };
    const abandoned = await findAbandoned(tx, job);
    return { assembly, chunks, soFar, abandoned: abandoned?.text ? abandoned : undefined };
  });
}

function nextTurn({ problems }: ExecutePayload, soFar: string, last: string): NextTurn | null {
  if (problems) return { kind: 'repair', soFar: soFar || last, problems };
  return soFar === '' ? null : { kind: 'continue', soFar };
}

/** A call that died with its process: what it had brought becomes a chunk, and the chain goes on. */
async function saveAbandoned(
  { job, commit }: JobContext,
  payload: ExecutePayload,
  abandoned: { readonly callId: string; readonly text: string },
): Promise<void> {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
  const { problems: _done, ...rest } = payload;
  await commit({
    write: async (tx) => {
      const chunk = { text: abandoned.text, finishReason: 'interrupted' };
      const id = await saveContribution(tx, { ...placeOf(job), chainId: job.chainId, ...chunk });
      const result = { finishReason: 'interrupted' as const, usage: { ...usage, estimated: true } };
      await endCall(tx, job.tenantId, abandoned.callId, id, result, null);
    },
    continuation: nextLink(job, { ...rest, state: payload.state ?? FIRST_TURN }),
  });
}

const placeOf = (job: Job) => ({
  tenantId: job.tenantId,
  sessionId: job.sessionId,
  jobId: job.id,
});

const nextLink = (_job: Job, payload: ExecutePayload): ChildJob => ({
  type: 'EXECUTE',
  payload: { ...payload },
});

/** Asks for as much as the model writes at most; without that some providers stop very early. */
async function limitOutput(request: ModelRequest, config: ModelsConfig): Promise<ModelRequest> {
  const { maxOutputTokens } = await findWindow(request.model, config);
  return maxOutputTokens === null ? request : { ...request, maxOutputTokens };
}

async function call(
  { database, provider, onDelta }: GenerationDeps,
  { job, signal }: JobContext,
  callId: string,
  request: ModelRequest,
): Promise<ModelResult> {
  const checkpoint = new Checkpoint(database, job.tenantId, callId);
  try {
    const result = await provider.generate(request, {
      signal,
      onDelta: (text) => {
        checkpoint.add(text);
        onDelta?.(job, text);
      },
    });
    if (result.text.trim() === '' && result.error) throw result.error;
    return result;
  } catch (thrown) {
    await checkpoint.settled();
    const error = toDialecticError(thrown);
    await failCall(database, job.tenantId, callId, error).catch(() => {});
    throw error;
  } finally {
    await checkpoint.settled();
  }
}

type Turn = {
  readonly payload: ExecutePayload;
  readonly view: View;
  readonly callId: string;
  readonly result: ModelResult;
};

/** Saves the chunk with what it means, in one transaction. */
async function settle(deps: GenerationDeps, { job, commit }: JobContext, turn: Turn) {
  const { payload, view, callId, result } = turn;
  const { stage, step, inputs, model } = view.assembly;
  const verdict = judge({
    soFar: payload.problems ? '' : view.soFar,
    result,
    state: payload.state ?? FIRST_TURN,
    contract: contractOf(stage, step)!,
    sections: describeDocument(stage, step).sections.map((section) => section.key),
    given: inputs.map(({ content }) => content).filter((content) => content !== null),
    limit: step.continuation,
  });
  const price = await findPrice(model, deps.config);
  const usage = result.usage.estimated ? await estimateUsage(view.assembly, result) : result.usage;
  const cost = price ? costMicros(usage, price) : null;
  await commit({
    write: async (tx) => {
      const { text, finishReason } = result;
      const chunk = { ...placeOf(job), chainId: job.chainId, text, finishReason };
      const id = await saveContribution(tx, chunk);
      await endCall(tx, job.tenantId, callId, id, { finishReason, usage }, cost);
      if (verdict.kind === 'document') {
        const contributionId = view.chunks[0]?.id ?? id;
        const content = fillContent(view.assembly, verdict.content, contributionId);
        const { planned } = payload;
        await saveDocument(tx, { ...placeOf(job), planned, contributionId, content });
      }
    },
    ...whatFollows(job, turn, verdict),
  });
  if (verdict.kind === 'give-up') {
    throw new DialecticError(verdict.code, `The model ${model} gave up: ${verdict.reason}`);
  }
}

function whatFollows(job: Job, { payload, view }: Turn, verdict: Verdict) {
  const { planned } = payload;
  if (verdict.kind === 'document') {
    const rendered = view.assembly.step.output.template !== null;
    const render: ChildJob = { type: 'RENDER', payload: { identity: planned.identity } };
    return rendered ? { children: [render] } : {};
  }
  const from = payload.problems ? view.chunks.length + 1 : (payload.from ?? 1);
  if (verdict.kind === 'continue') {
    return { continuation: nextLink(job, { planned, from, state: verdict.state }) };
  }
  if (verdict.kind === 'repair') {
    const { state, problems } = verdict;
    return { continuation: nextLink(job, { planned, from, state, problems }) };
  }
  return {};
}

/** Fields that code owns; a document's lineage is that of its first chunk where it starts one. */
function fillContent({ stage, step, planned, model }: Assembly, content: unknown, own: string) {
  return fillFields(contractOf(stage, step)!, content, {
    lineage: planned.sourceGroup ?? own,
    source_model: model,
    own_model: model,
    iteration: planned.iteration,
    document_key: planned.documentKey,
  });
}

async function estimateUsage(assembly: Assembly, result: ModelResult) {
  const counter = await loadTokenCounter();
  const request = assembleRequest(assembly);
  return {
    ...result.usage,
    inputTokens: result.usage.inputTokens || counter.countRequest(request),
    outputTokens: result.usage.outputTokens || counter.count(assembly.model, result.text),
  };
}
