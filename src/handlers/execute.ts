import type { Database } from '../db/database.ts';
import { DialecticError, toDialecticError, withDetails } from '../errors/errors.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import type { JobContext, JobHandler } from '../jobs/context.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import type { ModelProvider, ModelRequest, ModelResult } from '../models/types.ts';
import { type CallPurpose, Checkpoint, dropAbandoned, failCall } from './calls.ts';
import { commitComputed } from './compute.ts';
import { keepReceived } from './keep-received.ts';
import { readChain, type Standing } from './load.ts';
import { reserveCall } from './reserve.ts';
import { reckonEnd, settleTurn, type Turn, UNKNOWN_USAGE } from './save.ts';

export type GenerationDeps = {
  readonly database: Database;
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** Text as it arrives, for whoever watches. */
  readonly onDelta?: (job: Job, text: string) => void;
};

/** EXECUTE jobs: one call to a model, from its inputs to a saved chunk, document or next link. */
export function createExecuteHandler(deps: GenerationDeps): JobHandler {
  return async (context) => {
    const { job } = context;
    const { database } = deps;
    const view = await database.asTenant(job.tenantId, (tx) => readChain(tx, job));
    if (view.abandoned) {
      const { callId, text } = view.abandoned;
      const result = { text, finishReason: 'interrupted' as const, usage: UNKNOWN_USAGE };
      const turn = { view, callId, result, abandoned: true };
      if (text !== '') return settleOrCharge(deps, context, turn);
      // In this job and not in the next link of its chain, which would begin to count takeovers anew:
      // a request that ends its process every time would be sent for ever.
      await dropAbandoned(database, job, callId);
    }
    if (view.assembly.step.compute !== null) return commitComputed(context, view.assembly);
    const wanted = assembleRequest(view.assembly);
    const reserved = await reserveCall(deps, context, wanted, purposeOf(view.standing));
    if (!reserved) return;
    const { callId } = reserved;
    const result = await call(deps, context, callId, reserved.request);
    const abandoned = context.signal.aborted && result.finishReason === 'interrupted';
    await settleOrCharge(deps, context, { view, callId, result, abandoned });
  };
}

/** Saves a turn. One that cannot be saved was received all the same: it is charged and named. */
async function settleOrCharge(
  { database, config }: GenerationDeps,
  context: JobContext,
  turn: Turn,
): Promise<void> {
  const { job } = context;
  try {
    await settleTurn(context, turn, config);
  } catch (thrown) {
    const error = toDialecticError(thrown);
    if (error.code === 'lease_lost') {
      await keepReceived(database, job, turn, config).catch((cause: Error) => {
        // Still a lost lease for the worker, which must not fail the job by another code.
        const message = `${error.message} What its call had brought is not saved: ${cause.message}`;
        throw new DialecticError('lease_lost', message, { cause, details: error.details });
      });
    } else if (!isPassing(error)) {
      throw await chargeUnsaved(database, job, turn, error, config);
    }
    throw error;
  }
}

/** Charges an answer that the store refused; the error that results counts as a failed try. */
async function chargeUnsaved(
  database: Database,
  job: Job,
  turn: Turn,
  refusal: DialecticError,
  config: ModelsConfig,
): Promise<DialecticError> {
  const { usage, price, model, responseId } = await reckonEnd(turn, config);
  const chars = turn.result.text.length;
  const message = `${model}: an answer of ${chars} characters cannot be saved: ${refusal.message}`;
  const details = { model, usage, responseId, refusal: refusal.code };
  const error = new DialecticError('answer_not_saved', message, { cause: refusal, details });
  await failCall(database, job, { callId: turn.callId, error, price, model });
  return error;
}

function purposeOf({ problems, soFar }: Standing): CallPurpose {
  if (problems !== null) return 'repair';
  return soFar.trim() === '' ? 'document' : 'continuation';
}

async function call(
  { database, provider, config, onDelta }: GenerationDeps,
  { job, signal }: JobContext,
  callId: string,
  request: ModelRequest,
): Promise<ModelResult> {
  const checkpoint = new Checkpoint(database, job.tenantId, callId);
  try {
    const result = await provider.generate(request, {
      signal,
      onDelta: (text) => {
        checkpoint.add(text);
        onDelta?.(job, text);
      },
    });
    if (result.text.trim() === '' && result.error) throw withUsage(result.error, result);
    return result;
  } catch (thrown) {
    const error = toDialecticError(thrown);
    const price = await findPrice(request.model, config);
    // Should the store be away too, the call stays `sent`, and the next try settles it.
    await failCall(database, job, { callId, error, price, model: request.model }).catch(() => {});
    throw error;
  } finally {
    await checkpoint.flush();
  }
}

/** Blank text is no answer, but what the provider says that it took is paid. */
const withUsage = (error: DialecticError, { usage, raw }: ModelResult): DialecticError =>
  usage.estimated ? error : withDetails(error, { usage, responseId: raw.responseId });
