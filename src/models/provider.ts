import { DialecticError, withDetails } from '../errors/errors.ts';
import { sendHttp } from '../platform/http.ts';
import { abortedError, callModel, type Outside } from './call-model.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { DEFAULT_CONCURRENCY, type ModelsConfig, type ProviderConfig } from './config.ts';
import { embedTexts } from './embed-texts.ts';
import { type ModelId, parseModelId } from './model-id.ts';
import { createOfflineProvider } from './offline/offline-provider.ts';
import { createRecordedProvider } from './recorded/recorded-provider.ts';
import { requireProvider, requireRecording } from './require-models.ts';
import type { ModelProvider } from './types.ts';
import { systemClock } from './watchdog.ts';
import { findWindow } from './windows.ts';

/** Codes that tell that the provider itself is in trouble. */
const TROUBLE = new Set([
  'provider_unavailable',
  'provider_unreachable',
  'provider_timeout',
  'provider_bad_response',
]);

type Line = { readonly breaker: CircuitBreaker; readonly limit: ConcurrencyLimit };

/** All configured providers behind one door; ids choose among them. */
export function createModelProvider(
  config: ModelsConfig,
  outside: Partial<Outside> = {},
): ModelProvider {
  const { clock = systemClock, send = sendHttp } = outside;
  const lines = new Map<string, Line>();
  const offline = createOfflineProvider(clock);
  const recorded = config.recording && createRecordedProvider(config.recording, offline, clock);

  function lineOf(name: string, provider: ProviderConfig): Line {
    const known = lines.get(name);
    if (known) return known;
    const line = {
      breaker: createCircuitBreaker(name, clock.nowMs),
      limit: createConcurrencyLimit(provider.concurrency ?? DEFAULT_CONCURRENCY),
    };
    lines.set(name, line);
    return line;
  }

  /** Runs one call within the provider's limits, and tells its breaker how it went. */
  async function runCall<T>(
    id: ModelId,
    provider: ProviderConfig,
    signal: AbortSignal | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    const { breaker, limit } = lineOf(id.provider, provider);
    let isSent = false;
    try {
      return await limit.run(async () => {
        breaker.enter();
        isSent = true;
        return await report(breaker, call);
      }, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
      if (!isSent) throw withDetails(abortedError(id), { sent: false });
      throw isAborted(error) ? error : abortedError(id);
    }
  }

  return {
    async generate(request, options = {}) {
      const id = parseModelId(request.model);
      if (id.provider === 'offline') return await offline.generate(request, options);
      if (id.provider === 'recorded') {
        return await requireRecording(request.model, recorded).generate(request, options);
      }
      const provider = requireProvider(id, config);
      const window = await findWindow(request.model, config);
      const call = { request, id, provider, model: config.models[request.model], window, options };
      return runCall(id, provider, options.signal, () => callModel(call, { clock, send }));
    },
    async embed(request, { signal } = {}) {
      const id = parseModelId(request.model);
      const provider = requireProvider(id, config);
      const model = config.models[request.model];
      const call = { request, id, provider, model, ...(signal && { signal }) };
      return runCall(id, provider, signal, () => embedTexts(call, { clock, send }));
    },
  };
}

const isAborted = (error: unknown): boolean =>
  error instanceof DialecticError && error.code === 'provider_call_aborted';

async function report<T>(breaker: CircuitBreaker, call: () => Promise<T>): Promise<T> {
  try {
    const result = await call();
    breaker.succeed();
    return result;
  } catch (error) {
    const code = error instanceof DialecticError ? error.code : 'internal_error';
    if (TROUBLE.has(code)) breaker.fail();
    else if (code.startsWith('provider_') && code !== 'provider_call_aborted') breaker.succeed();
    else breaker.leave();
    throw error;
  }
}
