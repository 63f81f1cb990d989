import { roomForAnswer, USUAL_OUTPUT } from '../context/room.ts';
import type { JobContext } from '../jobs/context.ts';
import { isRecorded, parseModelId } from '../models/model-id.ts';
import { findPrice, type ModelPrice } from '../models/prices.ts';
import type { ModelRequest } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { HoldResult } from '../wallet/holds.ts';
import { affordableOutput, worstCase } from '../wallet/worst-case.ts';
import type { Assembled } from './assemble.ts';
import { beginCall } from './begin-call.ts';
import type { ChainCost } from './chain-cost.ts';
import type { Fitted } from './fit.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { loadMeasure } from './measure-request.ts';
import { fundsBusy, pauseForFunds } from './pause-for-funds.ts';

/**
 * A call that may leave: its row is written and its worst case is set aside. The request may ask
 * for a shorter answer than the one that was assembled.
 */
export type Reserved = Assembled & {
  readonly callId: string;
  /** The price at which the money is held and the answer is paid; null where it is unknown. */
  readonly price: ModelPrice | null;
  /** What the calls of its chain before it cost. */
  readonly chainCost: ChainCost;
};

/** With less than this a document would be cut again and again; then a person is asked instead. */
const LEAST_OUTPUT = 4_096;
const LOOK_AGAIN_MS = 250;
/** After that the job gives its place to others, whose calls may be what it waits for. */
const PATIENCE_MS = 3_000;

/**
 * Sets the cost of a request aside and writes its row. While calls in flight hold the rest of the
 * money it waits for them; where nothing is in flight that could help, the session pauses and the
 * result is null.
 */
export async function reserve(
  { database, config }: HandlerDeps,
  context: JobContext,
  fitted: Fitted,
): Promise<Reserved | null> {
  const { job, signal } = context;
  const { request, purpose, shortened } = fitted;
  const price = await findPrice(request.model, config);
  const window = await findWindow(request.model, config);
  const isExact = price?.source !== 'local' || window.windowTokens !== null;
  const measure = isExact ? await loadMeasure(database, job.tenantId, request.model) : null;
  const countedTokens = measure?.countPlainly(request) ?? null;
  const inputTokens =
    measure && countedTokens !== null ? measure.scale(countedTokens) : guessTokens(request);
  const callId = newId();
  const provider = parseModelId(request.model).provider;
  const isReplay = isRecorded(request.model);
  const since = elapsedMs();
  let most = roomForAnswer(window, inputTokens);
  for (;;) {
    const worst = worstCase(price, inputTokens, most);
    // A recorded answer was paid for in its own run, in tokens too.
    const cost = isReplay ? { ...worst, tokens: 0, inputTokens: 0 } : worst;
    const call = { callId, request, purpose, shortened, provider, cost, price, countedTokens };
    const held = await beginCall(database, job, call);
    if (held.outcome === 'held') {
      const limited = held.tokensLeft !== null || (held.usdLeft !== null && cost.usdMicros > 0);
      const isBound = limited || most < USUAL_OUTPUT || window.maxOutputTokens !== null;
      const bound = isBound ? { ...request, maxOutputTokens: most } : request;
      return { ...fitted, request: bound, callId, price, chainCost: held.chainCost };
    }
    const affordable = affordableOutput(price, inputTokens, held) ?? 0;
    if (affordable < most && affordable >= leastWorthwhile(held)) {
      most = affordable;
    } else if (held.outcome !== 'wait') {
      await pauseForFunds(context, held);
      return null;
    } else {
      if (elapsedMs() - since > PATIENCE_MS) throw fundsBusy();
      await sleep(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  }
}

/** What costs nothing and has no window is not worth loading a tokenizer for. */
function guessTokens({ system, messages, schema, continues }: ModelRequest): number {
  const texts = [system, ...messages.map(({ content }) => content)];
  const shape = schema && !continues ? JSON.stringify(schema.schema) : '';
  return Math.ceil([...texts, shape].reduce((sum, text) => sum + text.length, 0) / 3);
}

/** Short answers are a last resort; a little less than the most is better than waiting. */
function leastWorthwhile({ outcome }: HoldResult): number {
  if (outcome === 'approval') return Number.POSITIVE_INFINITY;
  return outcome === 'wait' ? USUAL_OUTPUT : LEAST_OUTPUT;
}
