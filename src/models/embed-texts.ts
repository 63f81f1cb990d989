import { DialecticError } from '../errors/errors.ts';
import { openEmbeddingModel, providerOptionsFor } from './adapters.ts';
import { abortedError, type Outside } from './call-model.ts';
import { createCheckedFetch } from './checked-fetch.ts';
import { classifyError } from './classify-error.ts';
import type { ModelConfig, ProviderConfig } from './config.ts';
import { secretsHider } from './hide-secrets.ts';
import type { ModelId } from './model-id.ts';
import type { EmbeddingRequest, EmbeddingResult } from './types.ts';
import { DEFAULT_TIMEOUTS, startWatchdog } from './watchdog.ts';

type EmbeddingCall = {
  readonly request: EmbeddingRequest;
  readonly id: ModelId;
  readonly provider: ProviderConfig;
  readonly model: ModelConfig | undefined;
  readonly signal?: AbortSignal;
};

/** Sends one batch of texts and checks that every one of them got a vector. */
export async function embedTexts(
  { request, id, provider, model, signal }: EmbeddingCall,
  { clock, send }: Outside,
): Promise<EmbeddingResult> {
  const wholeMs = provider.timeouts?.totalMs ?? DEFAULT_TIMEOUTS.firstByteMs;
  const limits = { firstByteMs: wholeMs, silenceMs: wholeMs, totalMs: wholeMs };
  const watchdog = startWatchdog(limits, clock, signal);
  const hide = secretsHider(provider);
  try {
    const fetch = createCheckedFetch(send, false, hide, () => watchdog.touch());
    const opened = await openEmbeddingModel(id, provider, fetch);
    const { embeddings, usage } = await opened.doEmbed({
      values: [...request.texts],
      abortSignal: watchdog.signal,
      providerOptions: providerOptionsFor(provider, undefined, model?.options ?? {}),
    });
    checkVectors(id, embeddings, request.texts.length);
    return { vectors: embeddings, inputTokens: usage?.tokens ?? null };
  } catch (thrown) {
    if (watchdog.expired) throw watchdog.expired;
    if (signal?.aborted) throw abortedError(id);
    throw classifyError(thrown, { provider: id.provider, model: id.name }, hide);
  } finally {
    watchdog.stop();
  }
}

function checkVectors(id: ModelId, vectors: readonly (readonly number[])[], asked: number): void {
  const [first] = vectors;
  const isWhole =
    vectors.length === asked &&
    vectors.every((one) => one.length > 0 && one.length === first?.length) &&
    vectors.every((one) => one.every(Number.isFinite));
  if (isWhole) return;
  throw new DialecticError(
    'provider_bad_response',
    `${id.provider}/${id.name}: ${asked} texts were sent, and ${vectors.length} vectors came back, ` +
      'or their numbers are not of one length.',
    { details: { provider: id.provider, model: id.name } },
  );
}
