import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import type { Job } from '../jobs/types.ts';
import { parseModelId } from '../models/model-id.ts';
import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { TokenUsage } from '../models/types.ts';
import { type HoldResult, holdFunds, postCall, voidHold, type WorstCase } from '../wallet/holds.ts';
import { requireLease } from './begin-call.ts';
import { faultOf } from './end-call.ts';

/** The purpose under which the ledger knows the cost of embedding. */
const EMBEDDING = 'embedding';

/** One request for vectors. */
export type EmbeddingCall = {
  readonly callId: string;
  readonly model: string;
  /** Null where it is unknown; then no limit in dollars may be in force. */
  readonly price: ModelPrice | null;
};

/** Money was refused for a call; `held` says by which limit. The session must pause. */
export class FundsRefused extends Error {
  readonly held: HoldResult;

  constructor(held: HoldResult) {
    super(`The call was refused: ${held.outcome}.`);
    this.held = held;
  }
}

/** Holds the worst case of a batch and writes its row; throws `FundsRefused` where money is short. */
export async function beginEmbedding(
  database: Database,
  job: Job,
  call: EmbeddingCall & { readonly cost: WorstCase },
): Promise<void> {
  const { callId, model, price, cost } = call;
  await database.asTenant(job.tenantId, async (tx) => {
    await requireLease(tx, job);
    const { provider } = parseModelId(model);
    const { sessionId } = job;
    const key = { callId, purpose: EMBEDDING };
    // No plan foresaw it: it may take the set share of the wallet unasked, as a repair may.
    const hold = { ...key, ...cost, sessionId, provider, automatic: true, price };
    const held = await holdFunds(tx, hold);
    if (price === null && held.usdLeft !== null) throw priceUnknown(model);
    if (held.outcome !== 'held') throw new FundsRefused(held);
    await tx.query(
      `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose)
       values ($1, $2, $3, $4, $5, 'embedding')`,
      [tx.tenantId, callId, sessionId, job.id, model],
    );
  });
}

/** Stores what a batch brought and posts its cost, both or neither. */
export async function endEmbedding(
  database: Database,
  job: Job,
  { callId, model, price }: EmbeddingCall,
  usage: TokenUsage,
  store: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const cost = price && costMicros(usage, price);
  await database.asTenant(job.tenantId, async (tx) => {
    await requireLease(tx, job);
    const details = { model, price, usage, responseId: null };
    const { inputTokens: tokens, estimated } = usage;
    await postCall(
      tx,
      { callId, purpose: EMBEDDING },
      { usdMicros: cost ?? 0, tokens, estimated, details },
    );
    await tx.query(
      `update model_calls set status = 'received', input_tokens = $2, output_tokens = 0,
         cached_input_tokens = 0, usage_estimated = $3, cost_micros = $4, finished_at = app_now()
       where id = $1`,
      [callId, tokens, estimated, cost],
    );
    await store(tx);
  });
}

/** Notes that a batch brought nothing usable. The usage in the error's details is paid. */
export async function failEmbedding(
  database: Database,
  job: Job,
  { callId, model, price }: EmbeddingCall,
  error: DialecticError,
): Promise<void> {
  const { usage } = error.details as { usage?: TokenUsage };
  if (!usage || usage.inputTokens === 0) {
    await database.asTenant(job.tenantId, (tx) => drop(tx, callId, faultOf(error)));
    return;
  }
  const { inputTokens: tokens, estimated } = usage;
  const cost = price && costMicros(usage, price);
  await database.asTenant(job.tenantId, async (tx) => {
    // Lock order: account, then model call.
    await tx.query('select lock_hold($1, $2, $3)', [tx.tenantId, callId, EMBEDDING]);
    const failed = await tx.query(
      `update model_calls set status = 'failed', error = $2, input_tokens = $3, output_tokens = 0,
         cached_input_tokens = 0, usage_estimated = $4, cost_micros = $5, finished_at = app_now()
       where id = $1 and status = 'sent' returning id`,
      [callId, faultOf(error), tokens, estimated, cost],
    );
    // Another try of the job may have settled it.
    if (failed.length === 0) return;
    const details = { model, price, usage, responseId: null };
    const key = { callId, purpose: EMBEDDING };
    await postCall(tx, key, { usdMicros: cost ?? 0, tokens, estimated, details });
  });
}

/** Settles batches of this job whose process died before their vectors were stored. */
export async function dropAbandonedEmbeddings(database: Database, job: Job): Promise<void> {
  await database.asTenant(job.tenantId, async (tx) => {
    await requireLease(tx, job);
    const left = await tx.query<{ id: string }>(
      `select id from model_calls
       where job_id = $1 and purpose = 'embedding' and status = 'sent' order by id`,
      [job.id],
    );
    const error = { code: 'lease_lost', message: 'The worker ended before the vectors arrived.' };
    for (const { id } of left) await drop(tx, id, error);
  });
}

/** Lock order: account, then model call. */
async function drop(tx: Transaction, callId: string, fault: object): Promise<void> {
  await voidHold(tx, { callId, purpose: EMBEDDING });
  await tx.query(
    `update model_calls set status = 'failed', error = $2, finished_at = app_now()
     where id = $1 and status = 'sent'`,
    [callId, fault],
  );
}

function priceUnknown(model: string): DialecticError {
  const message = `Dollars are limited, and the price of ${model} is unknown.`;
  return new DialecticError('price_unknown', message, { details: { model, sent: false } });
}
