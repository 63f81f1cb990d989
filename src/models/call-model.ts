import { DialecticError, withDetails } from '../errors/errors.ts';
import type { SendHttp } from '../platform/http.ts';
import { cleanText } from '../text/clean-text.ts';
import { openLanguageModel, openStream } from './adapters.ts';
import { buildCall } from './build-call.ts';
import { ceilingOf, checkUsage, type UsageCeiling } from './check-usage.ts';
import { createCheckedFetch } from './checked-fetch.ts';
import { classifyError } from './classify-error.ts';
import type { ModelConfig, ProviderConfig } from './config.ts';
import { secretsFilter, secretsHider } from './hide-secrets.ts';
import type { ModelId } from './model-id.ts';
import { normaliseFinish } from './normalise.ts';
import { createNameRestorer } from './restore-names.ts';
import { type CallOutcome, streamCall, wholeCall } from './run-call.ts';
import { loadTokenCounter } from './tokens.ts';
import type { CallOptions, ModelRequest, ModelResult, TokenUsage } from './types.ts';
import { DEFAULT_TIMEOUTS, type ModelClock, startWatchdog, type TimeLimits } from './watchdog.ts';
import type { ModelWindow } from './windows.ts';

/** What a call needs from the world. */
export type Outside = { readonly clock: ModelClock; readonly send: SendHttp };

/** One request with what its provider is configured to. */
type Call = {
  readonly request: ModelRequest;
  readonly id: ModelId;
  readonly provider: ProviderConfig;
  readonly model: ModelConfig | undefined;
  readonly window: ModelWindow;
  readonly options: CallOptions;
};

/** Sends one request and gives what came of it one shape; throws only where no text arrived.
 * Usage that was reported all the same is in the error's details. */
export async function callModel(call: Call, { clock, send }: Outside): Promise<ModelResult> {
  const { request, id, provider, options } = call;
  const stream = options.stream ?? provider.streaming ?? true;
  const built = buildCall(request, id, provider, call.model);
  const watchdog = startWatchdog(limitsFor(provider, stream), clock, options.signal);
  const listener = guardListener(options.onDelta);
  const hide = secretsHider(provider);
  try {
    const fetch = createCheckedFetch(send, stream, hide, () => watchdog.touch());
    const sent = { ...built.options, abortSignal: watchdog.signal };
    const names = createNameRestorer(built.renamed);
    const filters = { names, secrets: secretsFilter(provider), hide };
    const onDelta = (text: string): void => listener.onDelta(text);
    const outcome = stream
      ? await streamCall(await openStream(id, provider, fetch), sent, filters, onDelta)
      : await wholeCall(await openLanguageModel(id, provider, fetch), sent, filters, onDelta);
    listener.rethrow();
    const failure = nameFailure(outcome, call, watchdog.expired);
    return await toResult(call, outcome, failure);
  } finally {
    watchdog.stop();
  }
}

/** A whole answer comes with its first byte. */
function limitsFor({ timeouts = {} }: ProviderConfig, stream: boolean): TimeLimits {
  const { firstByteMs, silenceMs, totalMs } = timeouts;
  const whole = totalMs ?? DEFAULT_TIMEOUTS.totalMs;
  return {
    firstByteMs: stream ? (firstByteMs ?? DEFAULT_TIMEOUTS.firstByteMs) : whole,
    silenceMs: silenceMs ?? DEFAULT_TIMEOUTS.silenceMs,
    totalMs: whole,
  };
}

/** A fault of the listener ends the call, but is its own and not the provider's. */
function guardListener(onDelta: CallOptions['onDelta']) {
  let fault: { readonly error: unknown } | undefined;
  return {
    onDelta(text: string): void {
      try {
        if (!fault) onDelta?.(text);
      } catch (error) {
        fault = { error };
        throw error;
      }
    },
    rethrow(): void {
      if (fault) throw fault.error;
    },
  };
}

function nameFailure(
  outcome: CallOutcome,
  { id, provider, options }: Call,
  expired: DialecticError | undefined,
): DialecticError | undefined {
  const context = { provider: id.provider, model: id.name };
  if (outcome.failure !== undefined) {
    if (expired) return expired;
    if (options.signal?.aborted) return abortedError(id);
    return classifyError(outcome.failure, context, secretsHider(provider));
  }
  const finish = normaliseFinish(outcome.finishReason);
  if (finish !== 'interrupted' && finish !== 'error') return undefined;
  return new DialecticError(
    'provider_bad_response',
    `${id.provider}/${id.name}: the answer ended without a reason to.`,
    { details: context },
  );
}

async function toResult(
  call: Call,
  outcome: CallOutcome,
  failure: DialecticError | undefined,
): Promise<ModelResult> {
  const { request, window } = call;
  const ceiling = ceilingOf(request, window);
  const reported = checkUsage(outcome.usage, ceiling);
  if (failure && outcome.text === '') {
    const { responseId } = outcome;
    throw reported ? withDetails(failure, { usage: reported, responseId }) : failure;
  }
  const finish = normaliseFinish(outcome.finishReason);
  return {
    text: outcome.text,
    finishReason: outcome.failure === undefined ? finish : 'interrupted',
    usage: reported ?? (await estimateUsage(request, outcome.text, ceiling)),
    ...(failure ? { error: failure } : {}),
    raw: {
      finishReason: secretsHider(call.provider)(cleanText(outcome.finishReason?.raw ?? '')) || null,
      responseId: outcome.responseId,
      warnings: outcome.warnings,
    },
  };
}

/** No provider bills more than was asked for, however much a server sends. */
async function estimateUsage(
  request: ModelRequest,
  text: string,
  ceiling: UsageCeiling,
): Promise<TokenUsage> {
  const counter = await loadTokenCounter();
  return {
    inputTokens: Math.min(counter.countRequest(request), ceiling.inputTokens),
    outputTokens: Math.min(counter.count(request.model, text), ceiling.outputTokens),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    estimated: true,
  };
}

/** The user stopped it: not an error of the provider. */
export const abortedError = (id: ModelId): DialecticError =>
  new DialecticError('provider_call_aborted', `${id.provider}/${id.name}: stopped by request.`);
