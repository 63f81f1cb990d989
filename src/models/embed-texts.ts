import { DialecticError } from '../errors/errors.ts';
import { openEmbeddingModel, providerOptionsFor } from './adapters.ts';
import { abortedError, type Outside } from './call-model.ts';
import { createCheckedFetch } from './checked-fetch.ts';
import { classifyError } from './classify-error.ts';
import type { ModelConfig, ProviderConfig } from './config.ts';
import { secretsHider } from './hide-secrets.ts';
import type { ModelId } from './model-id.ts';
import type { EmbeddingRequest, EmbeddingResult, TokenUsage } from './types.ts';
import { DEFAULT_TIMEOUTS, startWatchdog } from './watchdog.ts';

type EmbeddingCall = {
  readonly request: EmbeddingRequest;
  readonly id: ModelId;
  readonly provider: ProviderConfig;
  readonly model: ModelConfig | undefined;
  readonly signal?: AbortSignal;
};

/** What a batch took: embedding has input alone. */
export const embeddingUsage = (inputTokens: number, estimated: boolean): TokenUsage => ({
  inputTokens,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated,
});

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
    const inputTokens = readTokens(usage?.tokens, request.texts);
    checkVectors(id, embeddings, request.texts.length, inputTokens);
    return { vectors: embeddings, inputTokens };
  } catch (thrown) {
    if (watchdog.expired) throw watchdog.expired;
    if (signal?.aborted) throw abortedError(id);
    throw classifyError(thrown, { provider: id.provider, model: id.name }, hide);
  } finally {
    watchdog.stop();
  }
}

/** What providers may count for each text beside its own tokens: marks of its begin and end. */
const FRAME_TOKENS = 64;

/** The provider's count; null where it reports none, or more than one token for a byte. */
function readTokens(tokens: number | undefined, texts: readonly string[]): number | null {
  if (tokens === undefined || !Number.isSafeInteger(tokens) || tokens < 0) return null;
  const most = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + FRAME_TOKENS, 0);
  return tokens <= most ? tokens : null;
}

/** The error carries the reported usage: vectors that cannot be used are billed, too. */
function checkVectors(
  id: ModelId,
  vectors: readonly (readonly number[])[],
  asked: number,
  inputTokens: number | null,
): void {
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
    {
      details: {
        provider: id.provider,
        model: id.name,
        ...(inputTokens !== null && { usage: embeddingUsage(inputTokens, false) }),
      },
    },
  );
}
