import type { Database, Transaction } from '../db/database.ts';
import { saveBlob } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { leaseLost } from '../jobs/context.ts';
import type { Job } from '../jobs/types.ts';
import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { ModelRequest, ModelResult, TokenUsage } from '../models/types.ts';
import { elapsedMs, every } from '../platform/clock.ts';
import { cleanJson } from '../text/clean-text.ts';
import { type HoldResult, holdFunds, postCall, voidHold, type WorstCase } from '../wallet/holds.ts';

export type CallPurpose = 'document' | 'continuation' | 'repair';

const PIECE_BYTES = 2_000;
const PIECE_MS = 1_000;

/** The purpose under which the ledger knows the cost of writing a text. */
const GENERATION = 'generation';

export type NewCall = {
  readonly callId: string;
  readonly request: ModelRequest;
  readonly purpose: CallPurpose;
  readonly provider: string;
  /** What it may cost at most. */
  readonly cost: WorstCase;
  /** Null where nobody knows it; then no limit in dollars may be in force. */
  readonly price: ModelPrice | null;
};

/** Sets the cost of a request aside and writes its row before it leaves; else changes nothing. */
export async function beginCall(database: Database, job: Job, call: NewCall): Promise<HoldResult> {
  const { sessionId } = job;
  const { callId, request, purpose, provider, cost, price } = call;
  return database.asTenant(job.tenantId, async (tx) => {
    // Whoever takes the job over must see the row, or come before it.
    await requireLease(tx, job);
    const key = { callId, purpose: GENERATION };
    const automatic = purpose === 'repair';
    const held = await holdFunds(tx, { ...key, ...cost, sessionId, provider, automatic, price });
    // Thrown inside the transaction, so that nothing stays held.
    if (price === null && held.usdLeft !== null) throw priceUnknown(request.model);
    if (held.outcome !== 'held') return held;
    const body = JSON.stringify({ system: request.system, messages: request.messages });
    const requestHash = await saveBlob(tx, body);
    await tx.query(
      `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose, request_hash)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [tx.tenantId, callId, sessionId, job.id, request.model, purpose, requestHash],
    );
    return held;
  });
}

async function requireLease(tx: Transaction, job: Job): Promise<void> {
  const lease = await tx.query(
    `select 1 from jobs where id = $1 and lease_token = $2
       and status = 'processing' for share`,
    [job.id, job.leaseToken],
  );
  if (lease.length === 0) throw leaseLost(job);
}

function priceUnknown(model: string): DialecticError {
  const message = `Dollars are limited, and the price of ${model} is unknown.`;
  return new DialecticError('price_unknown', message, { details: { model, sent: false } });
}

/**
 * Saves what arrives of an answer. While one piece is being written the next gathers, so that a
 * crash costs at most what came in the second or the two kilobytes since, and one write. A timer
 * writes what waits when the stream stalls, and tries a piece again whose write failed.
 */
export class Checkpoint {
  readonly #database: Database;
  readonly #tenantId: string;
  readonly #callId: string;
  #waiting = '';
  #bytes = 0;
  #seq = 0;
  /** Cut off but not known to be saved: no later piece is written before it, or there were a gap. */
  #piece: { readonly seq: number; readonly body: string } | undefined;
  #lastMs = elapsedMs();
  #writing: Promise<void> | undefined;
  readonly #timer = every(PIECE_MS, () => {
    this.#writing ??= this.#write(true);
  });

  constructor(database: Database, tenantId: string, callId: string) {
    this.#database = database;
    this.#tenantId = tenantId;
    this.#callId = callId;
  }

  add(text: string): void {
    this.#waiting += text;
    this.#bytes += Buffer.byteLength(text);
    this.#writing ??= this.#isDue() ? this.#write() : undefined;
  }

  /** Writes the rest, due or not: a crash between the end of the stream and the commit loses none. */
  async flush(): Promise<void> {
    this.#timer.stop();
    await this.#writing;
    await this.#write(true);
  }

  #isDue(): boolean {
    const isFull = this.#bytes >= PIECE_BYTES && this.#piece === undefined;
    return isFull || elapsedMs() - this.#lastMs >= PIECE_MS;
  }

  async #write(all = false): Promise<void> {
    while (this.#piece !== undefined || (this.#bytes > 0 && (all || this.#isDue()))) {
      this.#piece ??= this.#cut();
      this.#lastMs = elapsedMs();
      const { seq, body } = this.#piece;
      // While it cannot be written a crash would lose it; the answer in memory is whole.
      const saved = await this.#save(seq, body).then(
        () => true,
        () => false,
      );
      if (!saved) break;
      this.#piece = undefined;
    }
    this.#writing = undefined;
  }

  #cut(): { readonly seq: number; readonly body: string } {
    const piece = { seq: this.#seq++, body: this.#waiting };
    this.#waiting = '';
    this.#bytes = 0;
    return piece;
  }

  async #save(seq: number, body: string): Promise<void> {
    await this.#database.asTenant(this.#tenantId, (tx) =>
      tx.query(
        `insert into call_pieces (tenant_id, call_id, seq, body)
         select $1, $2, $3, $4 from model_calls
         where id = $2 and status = 'sent'
         on conflict do nothing`,
        [tx.tenantId, this.#callId, seq, body],
      ),
    );
  }
}

/** What a call of this job left behind whose process died: its id and the text that was saved. */
export async function findAbandoned(
  tx: Transaction,
  job: Job,
): Promise<{ readonly callId: string; readonly text: string } | undefined> {
  const [row] = await tx.query<{ id: string; body: string }>(
    `select c.id, coalesce(string_agg(p.body, '' order by p.seq), '') as body
     from model_calls c left join call_pieces p on p.tenant_id = c.tenant_id and p.call_id = c.id
     where c.job_id = $1 and c.status = 'sent'
     group by c.id order by c.id desc limit 1`,
    [job.id],
  );
  return row && { callId: row.id, text: row.body };
}

/** Locks a call after the account that pays for it, the order of everyone who takes both locks. */
export async function lockCall(tx: Transaction, callId: string): Promise<void> {
  await tx.query('select lock_hold($1, $2, $3)', [tx.tenantId, callId, GENERATION]);
  await tx.query('select 1 from model_calls where id = $1 for update', [callId]);
}

/** What a call brought, and what it is reckoned at. */
export type CallEnd = Pick<ModelResult, 'finishReason' | 'usage'> & {
  readonly model: string;
  /** Null where nobody knows it: tokens count all the same. */
  readonly price: ModelPrice | null;
  /** The provider's own name for the answer, to compare with its bill. */
  readonly responseId: string | null;
};

/** Notes what became of a call and posts its cost, in the transaction that saves its chunk. */
export async function endCall(
  tx: Transaction,
  callId: string,
  contributionId: string,
  { usage, finishReason, model, price, responseId }: CallEnd,
): Promise<void> {
  const cost = price && costMicros(usage, price);
  await tx.query(
    `update model_calls set status = $2, contribution_id = $3, finish_reason = $4,
       input_tokens = $5, output_tokens = $6, cached_input_tokens = $7, usage_estimated = $8,
       cost_micros = $9, finished_at = app_now() where id = $1`,
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
    ],
  );
  const tokens = usage.inputTokens + usage.outputTokens;
  const key = { callId, purpose: GENERATION };
  const details = { model, price, usage, responseId };
  await postCall(tx, key, {
    usdMicros: cost ?? 0,
    tokens,
    estimated: usage.estimated,
    details,
  });
  await dropPieces(tx, callId);
}

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
  await tx.query('delete from call_pieces where call_id = $1', [callId]);
}

/** A call that brought no text, or one that cannot be saved. */
export type FailedCall = Pick<CallEnd, 'model' | 'price'> & {
  readonly callId: string;
  /** Its details carry the usage where one is known. */
  readonly error: DialecticError;
};

/**
 * Notes that a call failed, unless its job has another owner by now, who settles it: a process that
 * was taken for dead may still speak up. The usage in the error's details is paid.
 */
export async function failCall(database: Database, job: Job, failed: FailedCall): Promise<void> {
  const { callId, error, model, price } = failed;
  const { usage, responseId } = error.details as { usage?: TokenUsage; responseId?: string | null };
  const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
  const cost = usage && price ? costMicros(usage, price) : null;
  const key = { callId, purpose: GENERATION };
  await database.asTenant(job.tenantId, async (tx) => {
    // Payers before calls, as everybody else who locks both.
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
        cleanJson({ code: error.code, message: error.message }),
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
    if (tokens === 0) return voidHold(tx, key);
    const details = { model, price, usage, responseId: responseId ?? null };
    await postCall(tx, key, { usdMicros: cost ?? 0, tokens, estimated: usage!.estimated, details });
  });
}
