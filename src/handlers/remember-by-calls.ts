import { normalise } from '../context/embedder.ts';
import { findEmbedded, saveVectors } from '../context/memory.ts';
import type { Reading, Recollection } from '../context/rank-texts.ts';
import { shareWork } from '../context/share-work.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import type { JobContext } from '../jobs/context.ts';
import type { ModelsConfig } from '../models/config.ts';
import { embeddingUsage } from '../models/embed-texts.ts';
import { findPrice } from '../models/prices.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import type { EmbeddingResult, TokenUsage } from '../models/types.ts';
import { newId } from '../platform/ids.ts';
import type { WorstCase } from '../wallet/holds.ts';
import { worstCase } from '../wallet/worst-case.ts';
import {
  beginEmbedding,
  dropAbandonedEmbeddings,
  type EmbeddingCall,
  endEmbedding,
  failEmbedding,
} from './embedding-call.ts';
import type { HandlerDeps } from './handler-deps.ts';

/** For whom, with which model, and what the prompt costs that the texts are compared for. */
export type EmbeddingDemand = {
  readonly model: string;
  readonly projectId: string;
  readonly promptMicros: number;
};

/** Texts in one request; providers take at least so many. */
const MOST_TEXTS = 96;
/** Tokens in one request: OpenAI takes 300,000. */
const MOST_TOKENS = 100_000;

/** The model whose vectors are stored: with its dimensions where the configuration sets them. */
export function embeddingModel(model: string, { models }: ModelsConfig): string {
  const dimensions = models[model]?.options?.['dimensions'];
  return typeof dimensions === 'number' ? `${model}@${dimensions}` : model;
}

/**
 * Embeds with a model of a provider. Each batch is a call of the job: its worst case is held before
 * it leaves, and its cost is posted in the transaction that stores its vectors. So whatever happens
 * next, a batch is charged once and found by the next try; a crash loses one batch at most.
 */
export const rememberByCalls =
  (
    deps: HandlerDeps,
    context: Pick<JobContext, 'job' | 'signal'>,
    { model, projectId, promptMicros }: EmbeddingDemand,
    { signal, onParts }: Reading = {},
  ): Recollection['remember'] =>
  (texts) =>
    shareWork(
      `${context.job.tenantId} ${embeddingModel(model, deps.config)}`,
      texts,
      async (own) => {
        const { database, config } = deps;
        await dropAbandonedEmbeddings(database, context.job);
        const price = await findPrice(model, config);
        const counter = await loadTokenCounter();
        // Another job may have stored some of them since the caller looked.
        const known = await database.asTenant(context.job.tenantId, (tx) =>
          findEmbedded(tx, embeddingModel(model, config), [...own.keys()]),
        );
        const sized = [...own]
          .filter(([digest]) => !known.has(digest))
          .map(([digest, text]) => ({
            digest,
            text,
            tokens: counter.count(model, text),
          }));
        let done = texts.size - sized.length;
        for (const batch of batchesOf(sized)) {
          // A batch that was sent is paid for, and stored before anything else ends.
          signal?.throwIfAborted();
          onParts?.(done, texts.size);
          done += batch.length;
          const inputTokens = batch.reduce((sum, { tokens }) => sum + tokens, 0);
          const call: EmbeddingCall = { callId: newId(), model, price };
          const digests = batch.map(({ digest }) => digest);
          await beginEmbedding(database, context.job, {
            ...call,
            cost: withPrompt(worstCase(price, inputTokens, 0), promptMicros),
          });
          const result = await send(deps, context, call, batch);
          await endEmbedding(database, context.job, call, usageOf(result, inputTokens), (tx) =>
            saveVectors(
              tx,
              projectId,
              embeddingModel(model, config),
              new Map(
                result.vectors.map((vector, at) => [
                  digests[at] ?? '',
                  normalise(Float32Array.from(vector)),
                ]),
              ),
            ),
          );
        }
      },
      signal,
    );

/**
 * The hold covers the prompt's input as well: texts are not worth embedding for a call that could
 * not be paid afterwards, and a person is asked where both take more than the wallet's share.
 */
const withPrompt = (cost: WorstCase, promptMicros: number): WorstCase => ({
  ...cost,
  usdMicros: cost.usdMicros + promptMicros,
});

async function send(
  { database, provider }: HandlerDeps,
  { job, signal }: Pick<JobContext, 'job' | 'signal'>,
  call: EmbeddingCall,
  batch: readonly { readonly text: string }[],
): Promise<EmbeddingResult> {
  try {
    if (!provider.embed) {
      throw new DialecticError('internal_error', 'This provider embeds no texts.');
    }
    const request = { model: call.model, texts: batch.map(({ text }) => text) };
    return await provider.embed(request, { signal });
  } catch (thrown) {
    const error = toDialecticError(thrown);
    // Should the store be away too, the call stays `sent`, and the next try drops it.
    await failEmbedding(database, job, call, error).catch(() => {});
    throw error;
  }
}

/** What the provider reported; our own count where it reported nothing that can be. */
const usageOf = ({ inputTokens }: EmbeddingResult, counted: number): TokenUsage =>
  embeddingUsage(inputTokens ?? counted, inputTokens === null);

type Sized = { readonly digest: string; readonly text: string; readonly tokens: number };

function batchesOf(all: readonly Sized[]): Sized[][] {
  const batches: Sized[][] = [];
  let tokens = 0;
  for (const one of all) {
    const last = batches.at(-1);
    if (last && last.length < MOST_TEXTS && tokens + one.tokens <= MOST_TOKENS) last.push(one);
    else {
      batches.push([one]);
      tokens = 0;
    }
    tokens += one.tokens;
  }
  return batches;
}
