import { DialecticError } from '../../errors/errors.ts';
import { abortedError } from '../call-model.ts';
import { parseModelId } from '../model-id.ts';
import { loadTokenCounter } from '../tokens.ts';
import type { CallOptions, ModelProvider, ModelRequest, ModelResult } from '../types.ts';
import { type ModelClock, systemClock } from '../watchdog.ts';
import { writeDocument } from './author.ts';
import { cutAt, cutToTokens } from './cut.ts';
import { isHit, type OfflineOptions, parseOfflineName } from './options.ts';

/** Deltas of about this size; small enough to be seen arriving. */
const DELTA_CHARS = 400;

/** The author for runs without any key: no network, no randomness, the same bytes each time. */
export function createOfflineProvider(
  clock: Pick<ModelClock, 'sleep'> = systemClock,
): ModelProvider {
  const calls = new Map<string, number>();
  return {
    async generate(request, options = {}) {
      const { model, maxOutputTokens } = request;
      const id = parseModelId(model);
      const settings = parseOfflineName(id.name);
      const call = (calls.get(model) ?? 0) + 1;
      calls.set(model, call);
      if (options.signal?.aborted) throw abortedError(id);
      if (isHit(settings.fail, call)) throw failOnPurpose(model, call);
      const counter = await loadTokenCounter();
      const whole = write(request, settings, call);
      const short = cutAt(whole, settings.cut ?? whole.length);
      const count = (part: string): number => counter.count(model, part);
      const text = cutToTokens(short, maxOutputTokens ?? whole.length, count);
      const pause = (): Promise<void> => clock.sleep(settings.delay ?? 0, options.signal);
      const sent = await send(text, settings.delay ? pause : undefined, options);
      const error = sent === text ? undefined : abortedError(id);
      if (error && sent === '') throw error;
      const finishReason = error ? 'interrupted' : text === whole ? 'stop' : 'length';
      const inputTokens = counter.countRequest(request);
      const usage = { ...NO_CACHE, inputTokens, outputTokens: count(sent) };
      const raw = { finishReason, responseId: null, warnings: [] };
      return {
        text: sent,
        finishReason,
        usage,
        raw,
        origin: { kind: 'offline' },
        ...(error && { error }),
      } satisfies ModelResult;
    },
  };
}

const NO_CACHE = { cachedInputTokens: 0, cacheWriteTokens: 0, estimated: true };

const failOnPurpose = (model: string, call: number): DialecticError =>
  new DialecticError('provider_unavailable', `${model}: call ${call} fails, as its id asks for.`, {
    details: { model, call },
  });

/** The answer to the messages before the first chunk; of a continuation what is still to come. */
function write(request: ModelRequest, settings: OfflineOptions, call: number): string {
  if (isHit(settings.empty, call)) return '';
  const { messages, continues } = request;
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const asked = first < 0 ? messages : messages.slice(0, first);
  const whole = writeDocument({ ...request, messages: asked }, settings.persona);
  const chunks = messages.filter(({ role }) => role === 'assistant');
  const soFar = continues ? chunks.map(({ content }) => content).join('') : '';
  // A conversation that did not fit the window shows only the end of what was written.
  const start = soFar === '' ? 0 : whole.lastIndexOf(soFar);
  const text = start === -1 ? whole : whole.slice(start + soFar.length);
  // Without braces and quotation marks nothing is left that a repair could hold on to.
  return isHit(settings.badjson, call) ? text.replace(/[{}[\]"]/g, '') : text;
}

/** Hands the text on in pieces and returns what was handed on before an abort. */
async function send(
  text: string,
  pause: (() => Promise<void>) | undefined,
  { signal, stream, onDelta }: CallOptions,
): Promise<string> {
  let sent = 0;
  while (sent < text.length) {
    await pause?.();
    if (signal?.aborted) break;
    const delta = stream === false ? text : cutAt(text.slice(sent), DELTA_CHARS);
    sent += delta.length;
    onDelta?.(delta);
  }
  return text.slice(0, sent);
}
