import { DialecticError } from '../../errors/errors.ts';
import { abortedError } from '../call-model.ts';
import { parseModelId } from '../model-id.ts';
import { loadTokenCounter } from '../tokens.ts';
import type {
  CallOptions,
  FinishReason,
  ModelProvider,
  ModelRequest,
  ModelResult,
} from '../types.ts';
import { type ModelClock, systemClock } from '../watchdog.ts';
import { type Answers, createAnswers } from './answers.ts';
import { cutAt, cutToTokens } from './cut.ts';
import { isHit, type OfflineOptions, parseOfflineName } from './options.ts';

type Answer = { readonly text: string; readonly finishReason: FinishReason };

/** Deltas of about this size; small enough to be seen arriving. */
const DELTA_CHARS = 400;

/** The author for runs without any key: no network, no randomness, the same bytes each time. */
export function createOfflineProvider(
  clock: Pick<ModelClock, 'sleep'> = systemClock,
): ModelProvider {
  const calls = new Map<string, number>();
  const answers = createAnswers();
  return {
    async generate(request, options = {}) {
      const id = parseModelId(request.model);
      const settings = parseOfflineName(id.name);
      const call = (calls.get(request.model) ?? 0) + 1;
      calls.set(request.model, call);
      const stop = (): void => {
        if (options.signal?.aborted) throw abortedError(id);
      };
      stop();
      if (isHit(settings.fail, call)) throw failOnPurpose(request.model, call);
      const answer = await limit(request, settings, write(request, settings, call, answers));
      const pause = (): Promise<void> => clock.sleep(settings.delay ?? 0, options.signal);
      const sent = await send(answer.text, settings.delay ? pause : undefined, options);
      if (sent === '' && answer.text !== '') stop();
      return toResult(request, sent, sent === answer.text ? answer.finishReason : 'interrupted');
    },
  };
}

const failOnPurpose = (model: string, call: number): DialecticError =>
  new DialecticError('provider_unavailable', `${model}: call ${call} fails, as its id asks for.`, {
    details: { model, call },
  });

function write(
  request: ModelRequest,
  settings: OfflineOptions,
  call: number,
  answers: Answers,
): string {
  if (isHit(settings.empty, call)) return '';
  const text = answers.find(request, settings.persona);
  return isHit(settings.badjson, call) ? spoil(text) : text;
}

/** Without braces and quotation marks nothing is left that a repair could hold on to. */
const spoil = (text: string): string => text.replace(/[{}[\]"]/g, '');

async function limit(
  { model, maxOutputTokens }: ModelRequest,
  { cut }: OfflineOptions,
  whole: string,
): Promise<Answer> {
  const short = cut === undefined ? whole : cutAt(whole, cut) || whole.slice(0, 2);
  const text =
    maxOutputTokens === undefined
      ? short
      : cutToTokens(short, maxOutputTokens, model, await loadTokenCounter());
  return { text, finishReason: text.length < whole.length ? 'length' : 'stop' };
}

/** Hands the text on in pieces and returns what was handed on before an abort. */
async function send(
  text: string,
  pause: (() => Promise<void>) | undefined,
  options: CallOptions,
): Promise<string> {
  const { signal, onDelta } = options;
  let sent = 0;
  while (sent < text.length) {
    await pause?.();
    if (signal?.aborted) break;
    const delta = options.stream === false ? text : cutAt(text.slice(sent), DELTA_CHARS);
    sent += delta.length;
    onDelta?.(delta);
  }
  return text.slice(0, sent);
}

async function toResult(
  request: ModelRequest,
  text: string,
  finishReason: FinishReason,
): Promise<ModelResult> {
  const counter = await loadTokenCounter();
  const usage = {
    inputTokens: counter.countRequest(request),
    outputTokens: counter.count(request.model, text),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    estimated: true,
  };
  const stopped = { error: abortedError(parseModelId(request.model)) };
  return {
    text,
    finishReason,
    usage,
    ...(finishReason === 'interrupted' ? stopped : {}),
    raw: { finishReason, responseId: null, usage: null, warnings: [] },
  };
}
