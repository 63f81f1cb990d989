import { type DialecticError, toDialecticError, withDetails } from '../errors/errors.ts';
import type { JobContext } from '../jobs/context.ts';
import { countUsage } from '../models/count-usage.ts';
import type { ModelResult } from '../models/types.ts';
import { elapsedMs } from '../platform/clock.ts';
import { Checkpoint } from './checkpoint.ts';
import { type Answer, failCall } from './end-call.ts';
import type { HandlerDeps } from './handler-deps.ts';
import type { Reserved } from './reserve.ts';

/** A reserved call with what it brought. */
export type Answered = Reserved & {
  readonly answer: Answer;
  /** Whether this side cut the answer off: its process died or was stopped. */
  readonly isCutHere: boolean;
  /** Guards the answer until it is saved, and must then be ended; null for one that was recovered. */
  readonly checkpoint: Checkpoint | null;
};

/** Sends the request and saves the answer piece by piece as it arrives. */
export async function call(
  deps: HandlerDeps,
  context: JobContext,
  reserved: Reserved,
): Promise<Answered> {
  const checkpoint = new Checkpoint(deps.database, context.job.tenantId, reserved.callId);
  const result = await stream(deps, context, reserved, checkpoint);
  const { text, finishReason, origin = { kind: 'model' } } = result;
  const usage = await countUsage(reserved.request, result);
  const responseId = result.raw.responseId ?? null;
  const answer = { text, finishReason, usage, responseId, origin };
  const isCutHere = context.signal.aborted && finishReason === 'interrupted';
  return { ...reserved, answer, isCutHere, checkpoint };
}

async function stream(
  { database, provider, onDelta, trace }: HandlerDeps,
  { job, signal }: JobContext,
  { callId, request, model, price }: Reserved,
  checkpoint: Checkpoint,
): Promise<ModelResult> {
  const sentMs = elapsedMs();
  let firstMs: number | undefined;
  try {
    const result = await provider.generate(request, {
      signal,
      onDelta: (text) => {
        if (firstMs === undefined) trace?.add('call: until the first byte', job.id, sentMs);
        firstMs ??= elapsedMs();
        checkpoint.add(text);
        onDelta?.(job, text);
      },
    });
    trace?.add('call: first to last byte', job.id, firstMs ?? sentMs);
    if (result.text.trim() === '' && result.error) throw withUsage(result.error, result);
    return result;
  } catch (thrown) {
    const error = toDialecticError(thrown);
    // Should the store be away too, the call stays `sent`, and the next try settles it.
    await failCall(database, job, { callId, error, price, model }).catch(() => {});
    await checkpoint.end(false);
    throw error;
  }
}

/** Blank text is no answer, but what the provider says that it took is paid. */
const withUsage = (error: DialecticError, { usage, raw }: ModelResult): DialecticError =>
  usage.estimated ? error : withDetails(error, { usage, responseId: raw.responseId });
