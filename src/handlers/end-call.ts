import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import type { DialecticError } from '../errors/errors.ts';
import type { Job } from '../jobs/types.ts';
import { isRecorded } from '../models/model-id.ts';
import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { AnswerOrigin, ModelResult, TokenUsage } from '../models/types.ts';
import { cleanJson } from '../text/clean-text.ts';
import { postCall, postWithOthers, voidHold } from '../wallet/holds.ts';
import { GENERATION, requireLease } from './begin-call.ts';

/** What a call brought; its usage is the provider's or, where it reported none, counted here. */
export type Answer = Pick<ModelResult, 'text' | 'finishReason' | 'usage'> & {
  /** The provider's own name for the answer, to compare with its bill. */
  readonly responseId: string | null;
  readonly origin: AnswerOrigin;
};

/** Locks a call. Lock order: account, then model call. */
export async function lockCall(tx: Transaction, callId: string): Promise<void> {
  await tx.query('select lock_hold($1, $2, $3)', [tx.tenantId, callId, GENERATION]);
  await tx.query('select 1 from model_calls where id = $1 for update', [callId]);
}

/** A call that was answered, and the price at which its money is held. */
type AnsweredCall = {
  readonly callId: string;
  readonly model: string;
  /** Null where it is unknown: tokens count all the same. */
  readonly price: ModelPrice | null;
  readonly answer: Answer;
};

/** What a call costs in micro-USD; null where its price is unknown. */
export const costOf = ({ price, answer }: Pick<AnsweredCall, 'price' | 'answer'>): number | null =>
  price && costMicros(answer.usage, price);

/**
 * Notes what became of a call and posts its cost, in the transaction that saves its chunk. Lock order:
 * account, then model call.
 */
export async function endCall(
  tx: Transaction,
  { callId, model, price, answer }: AnsweredCall,
  contributionId: string,
): Promise<void> {
  const { usage, finishReason, responseId, origin } = answer;
  const cost = costOf({ price, answer });
  const key = { callId, purpose: GENERATION };
  const details = { model, price, usage, responseId };
  const posted = postWithOthers(tx, key, {
    usdMicros: cost ?? 0,
    tokens: chargedTokens(model, usage),
    estimated: usage.estimated,
    details,
  });
  const noted = tx.queryForAll(
    `update model_calls c set status = e.status, contribution_id = e.contribution_id,
       finish_reason = e.finish_reason, input_tokens = e.input_tokens,
       output_tokens = e.output_tokens, cached_input_tokens = e.cached_input_tokens,
       usage_estimated = e.usage_estimated, cost_micros = e.cost_micros, origin = e.origin,
       recorded_cost_micros = e.recorded_cost_micros, finished_at = app_now()
     from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[],
       $7::bigint[], $8::boolean[], $9::bigint[], $10::text[], $11::bigint[])
       as e (id, status, contribution_id, finish_reason, input_tokens, output_tokens,
         cached_input_tokens, usage_estimated, cost_micros, origin, recorded_cost_micros)
     where c.id = any ($1) and c.id = e.id`,
    [
      callId,
      finishReason === 'interrupted' ? 'cut' : 'received',
      contributionId,
      finishReason,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens,
      usage.estimated,
      cost,
      origin.kind,
      origin.kind === 'recording' ? origin.costMicros : null,
    ],
    'end-calls',
    'calls',
  );
  await Promise.all([posted, noted, dropPieces(tx, callId)]);
}

/** A recorded answer was paid for in its own run, in tokens too. */
const chargedTokens = (model: string, usage: TokenUsage): number =>
  isRecorded(model) ? 0 : usage.inputTokens + usage.outputTokens;

/** Notes that a call brought nothing before its process died; its hold is voided. */
export async function dropAbandoned(database: Database, job: Job, callId: string): Promise<void> {
  await database.asTenant(job.tenantId, async (tx) => {
    await requireLease(tx, job);
    await lockCall(tx, callId);
    const dropped = await tx.query(
      `update model_calls set status = 'failed', finish_reason = 'interrupted',
         finished_at = app_now() where id = $1 and status = 'sent' returning id`,
      [callId],
    );
    if (dropped.length > 0) await voidHold(tx, { callId, purpose: GENERATION });
  });
}

async function dropPieces(tx: Transaction, callId: string): Promise<void> {
  const text = 'delete from call_pieces where call_id = any ($1)';
  await tx.queryForAll(text, [callId], 'drop-pieces', 'calls');
}

/** A call that brought no text, or one that cannot be saved. */
type FailedCall = Pick<AnsweredCall, 'callId' | 'model' | 'price'> & {
  /** Its details carry the usage where one is known. */
  readonly error: DialecticError;
};

/** A call's fault as its row keeps it: where the request never left, the call is not counted. */
export function faultOf({ code, message, details }: DialecticError): object {
  return cleanJson({ code, message, ...(details['sent'] === false && { sent: false }) });
}

/**
 * Notes that a call failed, unless its job has another owner by now, who settles it: a process that
 * was taken for dead may still speak up. The usage in the error's details is paid.
 */
export async function failCall(database: Database, job: Job, failed: FailedCall): Promise<void> {
  const { callId, error, model, price } = failed;
  const { usage, responseId } = error.details as { usage?: TokenUsage; responseId?: string | null };
  const tokens = usage ? chargedTokens(model, usage) : 0;
  const cost = usage && price ? costMicros(usage, price) : null;
  const key = { callId, purpose: GENERATION };
  await database.asTenant(job.tenantId, async (tx) => {
    // Lock order: account, then model call.
    await tx.query('select lock_hold($1, $2, $3)', [tx.tenantId, callId, GENERATION]);
    const rows = await tx.query(
      `update model_calls c set status = 'failed', error = $2, finished_at = app_now(),
         input_tokens = $4, output_tokens = $5, cached_input_tokens = $6, cost_micros = $7,
         usage_estimated = $8
       where c.id = $1 and c.status = 'sent' and exists (
         select from jobs j where j.id = c.job_id
           and (j.lease_token = $3 or is_over(j.status)))
       returning c.id`,
      [
        callId,
        faultOf(error),
        job.leaseToken,
        usage?.inputTokens ?? null,
        usage?.outputTokens ?? null,
        usage?.cachedInputTokens ?? null,
        cost,
        usage?.estimated ?? false,
      ],
    );
    if (rows.length === 0) return;
    await dropPieces(tx, callId);
    if (!usage || tokens === 0) return voidHold(tx, key);
    const details = { model, price, usage, responseId: responseId ?? null };
    await postCall(tx, key, { usdMicros: cost ?? 0, tokens, estimated: usage.estimated, details });
  });
}
