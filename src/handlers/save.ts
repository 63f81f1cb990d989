import { saveContribution, saveDocument } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import { type Assembly, assembleRequest } from '../generation/assemble-request.ts';
import { fillFields } from '../generation/fill-fields.ts';
import { findDefects } from '../generation/find-defects.ts';
import type { JsonRecord } from '../generation/json-reader.ts';
import { type JudgedAnswer, judgeAnswer, type Verdict } from '../generation/judge-answer.ts';
import { tryRendering } from '../generation/try-rendering.ts';
import type { Effects, JobContext } from '../jobs/context.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import type { FinishReason, ModelRequest, ModelResult, TokenUsage } from '../models/types.ts';
import { contractOf, describeDocument } from '../recipe/contract.ts';
import type { ContinuationLimit } from '../recipe/types.ts';
import { type CallEnd, endCall } from './calls.ts';
import { type ChainView, type ExecutePayload, joinFrom } from './load.ts';
import { renderJobs } from './render.ts';

/** What came of a request; `abandoned` where this side ended it: its process died or was stopped. */
export type Turn = {
  readonly view: ChainView;
  readonly callId: string;
  readonly result: Pick<ModelResult, 'text' | 'finishReason' | 'usage'> &
    Partial<Pick<ModelResult, 'raw'>>;
  readonly abandoned: boolean;
};

/** Saves a turn's chunk, its usage and what it means for the document, in one transaction. */
export async function settleTurn(
  { job, commit }: JobContext,
  turn: Turn,
  config: ModelsConfig,
): Promise<void> {
  const { view, callId, result } = turn;
  const { verdict, first: begun } = judgeTurn(turn);
  const end = await reckonEnd(turn, config);
  const place = { sessionId: job.sessionId, jobId: job.id };
  await commit({
    write: async (tx) => {
      const { text, finishReason } = result;
      const id = await saveContribution(tx, { ...place, chainId: job.chainId, text, finishReason });
      await endCall(tx, callId, id, end);
      if (verdict.kind !== 'document') return;
      const { planned } = view.assembly;
      const first = begun ?? id;
      const content = fillContent(view, verdict.content, first);
      await saveDocument(tx, { ...place, planned, contributionId: first, content });
    },
    ...whatFollows(view, verdict),
  });
}

/** What a turn is paid by: the usage that was reported, or counted here, and the model's price. */
export async function reckonEnd({ view, result }: Turn, config: ModelsConfig): Promise<CallEnd> {
  const { model } = view.assembly;
  return {
    finishReason: result.finishReason,
    usage: await countUsage(view.assembly, result),
    price: await findPrice(model, config),
    model,
    responseId: result.raw?.responseId ?? null,
  };
}

/** The chunk with which the accepted text begins; undefined where it begins with this turn's. */
function firstOfText({ standing, chunks }: ChainView): string | undefined {
  // A repair writes the whole text again: nothing before it is part of the document.
  if (standing.problems !== null) return undefined;
  return chunks.find(({ ordinal }) => ordinal >= standing.from)?.id;
}

/** The verdict on a turn, and the chunk with which the text begins that it is about. */
function judgeTurn(turn: Turn): { readonly verdict: Verdict; readonly first: string | undefined } {
  const { view, result, abandoned } = turn;
  const { state, problems, soFar } = view.standing;
  const judged = { ...whatIsAsked(view), soFar: problems === null ? soFar : '', result, state };
  const verdict = judgeAnswer(judged);
  const cut =
    verdict.kind === 'continue' ||
    (verdict.kind === 'give-up' && verdict.code === 'continuation_exhausted');
  const first = firstOfText(view);
  // Kills and stops never exhaust a chain.
  if (abandoned && cut) return { verdict: { kind: 'continue', state }, first };
  return (verdict.kind === 'give-up' && takeValid(view, judged)) || { verdict, first };
}

/** The valid document that its writer was asked to mend and did not; it stands as it is. */
function takeValid({ standing: { valid }, chunks }: ChainView, judged: JudgedAnswer) {
  if (valid === null) return undefined;
  const attempt = chunks.filter(({ ordinal }) => ordinal >= valid.from && ordinal <= valid.to);
  const { text, finishReason } = attempt.at(-1)!;
  const verdict = judgeAnswer({
    ...judged,
    soFar: joinFrom(attempt.slice(0, -1), valid.from).soFar,
    result: { text, finishReason: finishReason as FinishReason },
    findDefects: () => [],
  });
  return { verdict, first: attempt[0]!.id };
}

/** A document of few words may be long before it is cut off for good. */
const LONGEST_AT_LEAST = 40_000;
/** Four times what was asked for, at seven characters a word. */
const LONGEST_PER_WORD = 28;

/** An answer without end stops at a multiple of what its contract asks for. */
function limitLength(limit: ContinuationLimit, words: number): ContinuationLimit {
  if (words === 0) return limit;
  const longest = Math.max(LONGEST_AT_LEAST, LONGEST_PER_WORD * words);
  return { ...limit, maxChars: Math.min(limit.maxChars, longest) };
}

function whatIsAsked({ assembly }: ChainView): Omit<JudgedAnswer, 'soFar' | 'result' | 'state'> {
  const { stage, step, planned, inputs } = assembly;
  const base = inputs.find(({ name }) => name === step.extends)?.content;
  return {
    contract: contractOf(stage, step)!,
    sections: describeDocument(stage, step).sections.map((section) => section.key),
    given: inputs
      // An earlier version of the same document may well be right as it stands.
      .filter(
        ({ name, content, document_key }) =>
          content !== null &&
          document_key !== planned.documentKey &&
          name !== (step.extends ?? step.rewrites),
      )
      .map(({ content }) => content),
    limit: limitLength(step.continuation, describeDocument(stage, step).words),
    countRead: () => countCharacters(assembleRequest(assembly)),
    tryRendering: (content) => tryRendering(assembly, content),
    findDefects: (content) => findDefects(assembly, content),
    ...(base !== undefined && { extended: base as JsonRecord }),
  };
}

function whatFollows({ assembly, standing, chunks }: ChainView, verdict: Verdict): Effects {
  const { planned } = assembly;
  if (verdict.kind === 'document') return { children: renderJobs(assembly) };
  if (verdict.kind === 'give-up') {
    const message = `The document ${planned.documentKey} did not come about: ${verdict.reason}`;
    const details = { model: assembly.model, stage: planned.stage, document: planned.documentKey };
    return { next: { fail: new DialecticError(verdict.code, message, { details }) } };
  }
  const here = chunks.length + 1;
  const from = standing.problems === null ? standing.from : here;
  const valid = verdict.kind === 'mend' ? { from, to: here } : standing.valid;
  const payload: ExecutePayload = {
    planned,
    from,
    state: verdict.state,
    ...(verdict.kind !== 'continue' && { problems: verdict.problems }),
    ...(valid !== null && { valid }),
  };
  return { continuation: { type: 'EXECUTE', payload: { ...payload } } };
}

/** Fields that code owns; a document's lineage is that of its first chunk where it starts one. */
function fillContent({ assembly, sourceModel }: ChainView, content: unknown, own: string) {
  const { stage, step, planned, model } = assembly;
  return fillFields(contractOf(stage, step)!, content, {
    lineage: planned.sourceGroup ?? own,
    source_model: sourceModel,
    own_model: model,
    iteration: planned.iteration,
    document_key: planned.documentKey,
  });
}

const countCharacters = ({ system, messages }: ModelRequest): number =>
  messages.reduce((sum, { content }) => sum + content.length, system.length);

async function countUsage(assembly: Assembly, { usage, text }: Turn['result']) {
  if (!usage.estimated || usage.inputTokens > 0) return usage;
  const counter = await loadTokenCounter();
  const inputTokens = counter.countRequest(assembleRequest(assembly));
  return { ...usage, inputTokens, outputTokens: counter.count(assembly.model, text) };
}

/** For a call that can no longer report what it used. */
export const UNKNOWN_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: true,
};
