import { DialecticError } from '../../errors/errors.ts';
import { abortedError } from '../call-model.ts';
import { parseModelId } from '../model-id.ts';
import { loadTokenCounter } from '../tokens.ts';
import type {
  CallOptions,
  CallSubject,
  ModelProvider,
  ModelRequest,
  ModelResult,
  TokenUsage,
} from '../types.ts';
import type { ModelClock } from '../watchdog.ts';
import { parseRecordedName } from './options.ts';
import { findNext, type RecordedRest, type RecordingConfig } from './recording.ts';

/** Text arrives so often, whatever the pace. */
const DELTA_MS = 50;
/** Who fills in for a participant without a recorded answer, by its number. */
const FILLERS = ['offline/builder', 'offline/skeptic', 'offline/steward'];

/**
 * Answers from an earlier run: each request gets what the same participant then answered for the
 * same document on the same proposal. The place in the debate decides, never the order in which
 * requests arrive.
 */
export function createRecordedProvider(
  { recording, pace, fill }: RecordingConfig,
  offline: ModelProvider,
  clock: Pick<ModelClock, 'sleep'>,
): ModelProvider {
  return {
    async generate(request, options = {}) {
      const { subject } = request;
      const id = parseModelId(request.model);
      if (options.signal?.aborted) throw abortedError(id);
      const next = subject && findNext(recording.answersFor(subject), subject.before);
      if (!next && fill === null) throw notRecorded(subject, recording.place);
      if (!next) {
        const model = FILLERS[((subject?.lane ?? 1) - 1) % FILLERS.length]!;
        return offline.generate({ ...request, model }, options);
      }
      const rate = parseRecordedName(id.name).pace ?? pace;
      const whole = next.answer.text.slice(next.from);
      const sent = await send(whole, rate, options, clock);
      if (sent === '' && whole !== '') throw abortedError(id);
      return toResult(request, next, sent, sent === whole);
    },
  };
}

/** Hands a text on at the pace of so many characters a second; returns what an abort left of it. */
async function send(
  text: string,
  pace: number,
  { signal, onDelta, stream = true }: CallOptions,
  clock: Pick<ModelClock, 'sleep'>,
): Promise<string> {
  const size = stream && pace > 0 ? Math.max(1, Math.ceil((pace * DELTA_MS) / 1000)) : text.length;
  let sent = 0;
  while (sent < text.length) {
    if (pace > 0) await clock.sleep(DELTA_MS, signal);
    if (signal?.aborted) break;
    const end = sent + size;
    const splits = /[\ud800-\udbff]/.test(text.charAt(end - 1));
    const delta = text.slice(sent, splits ? end + 1 : end);
    sent += delta.length;
    onDelta?.(delta);
  }
  return text.slice(0, sent);
}

async function toResult(
  request: ModelRequest,
  { answer }: RecordedRest,
  text: string,
  isWhole: boolean,
): Promise<ModelResult> {
  const interrupted = { error: abortedError(parseModelId(request.model)) };
  const finishReason = isWhole ? answer.finishReason : 'interrupted';
  return {
    text,
    finishReason,
    // Counted with the part that ends it: an answer that is sent in two parts cost its price once.
    usage: isWhole ? (answer.usage ?? (await countUsage(request, text))) : NOTHING,
    ...(finishReason === 'interrupted' ? interrupted : {}),
    origin: { kind: 'recording', costMicros: isWhole ? answer.costMicros : 0 },
    raw: { finishReason, responseId: null, warnings: [] },
  };
}

const NOTHING: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: false,
};

/** For trees of earlier releases, whose answers do not say what they used. */
async function countUsage(request: ModelRequest, text: string): Promise<TokenUsage> {
  const counter = await loadTokenCounter();
  return {
    ...NOTHING,
    inputTokens: counter.countRequest(request),
    outputTokens: counter.count(request.model, text),
    estimated: true,
  };
}

function notRecorded(subject: CallSubject | undefined, place: string): DialecticError {
  const what = subject ? describe(subject) : 'This request, which is for no document of a debate,';
  const message =
    `${what} has no recorded answer in ${place}. ` +
    `With --fill offline the offline author writes what is missing.`;
  const { before = [], ...asked } = subject ?? {};
  const details = { ...asked, call: before.length + 1, place };
  return new DialecticError('answer_not_recorded', message, { details });
}

/** `antithesis/risk_register of participant 1 on participant 2, pass 1, call 2`. */
function describe({ stage, documentKey, lane, about, iteration, before }: CallSubject): string {
  const others = about.length === 1 && about[0] === lane ? '' : ` on ${about.join(' and ')}`;
  const which = `${stage}/${documentKey} of participant ${lane}${others}, pass ${iteration}`;
  return `${which}, call ${before.length + 1}`;
}
