import type { Database, Transaction } from '../db/database.ts';
import { saveBlob } from '../documents/blobs.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelRequest, ModelResult } from '../models/types.ts';
import { elapsedMs } from '../platform/clock.ts';
import type { DialecticError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';

export type CallPurpose = 'document' | 'continuation' | 'repair';

const PIECE_BYTES = 2_000;
const PIECE_MS = 1_000;

/** Writes the row of a request before it leaves. */
export async function beginCall(
  database: Database,
  job: Job,
  request: ModelRequest,
  purpose: CallPurpose,
): Promise<string> {
  const id = newId();
  await database.asTenant(job.tenantId, async (tx) => {
    const body = JSON.stringify({ system: request.system, messages: request.messages });
    const requestHash = await saveBlob(tx, job.tenantId, body);
    await tx.query(
      `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose, request_hash)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [job.tenantId, id, job.sessionId, job.id, request.model, purpose, requestHash],
    );
  });
  return id;
}

/**
 * Saves what arrives of an answer. While one piece is being written the next gathers, so that a
 * crash costs at most what came in the second or the two kilobytes since, and one write.
 */
export class Checkpoint {
  readonly #database: Database;
  readonly #tenantId: string;
  readonly #callId: string;
  #waiting = '';
  #bytes = 0;
  #seq = 0;
  #lastMs = elapsedMs();
  #writing: Promise<void> | undefined;

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

  /** Resolves when nothing is being written any more. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #isDue(): boolean {
    return this.#bytes >= PIECE_BYTES || elapsedMs() - this.#lastMs >= PIECE_MS;
  }

  async #write(): Promise<void> {
    while (this.#bytes > 0 && this.#isDue()) {
      const body = this.#waiting;
      this.#waiting = '';
      this.#bytes = 0;
      this.#lastMs = elapsedMs();
      // A piece that cannot be written is one that a crash would lose; the answer itself is whole.
      await this.#save(this.#seq++, body).catch(() => {});
    }
    this.#writing = undefined;
  }

  async #save(seq: number, body: string): Promise<void> {
    await this.#database.asTenant(this.#tenantId, (tx) =>
      tx.query(
        `insert into call_pieces (tenant_id, call_id, seq, body)
         select $1, $2, $3, $4 from model_calls
         where tenant_id = $1 and id = $2 and status = 'sent'`,
        [this.#tenantId, this.#callId, seq, body],
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
     where c.tenant_id = $1 and c.job_id = $2 and c.status = 'sent'
     group by c.id order by c.id desc limit 1`,
    [job.tenantId, job.id],
  );
  return row && { callId: row.id, text: row.body };
}

/** Notes what became of a call, in the transaction that saves its chunk. */
export async function endCall(
  tx: Transaction,
  tenantId: string,
  callId: string,
  contributionId: string | null,
  result: Pick<ModelResult, 'finishReason' | 'usage'>,
  costMicros: number | null,
): Promise<void> {
  const { usage, finishReason } = result;
  await tx.query(
    `update model_calls set status = $3, contribution_id = $4, finish_reason = $5,
       input_tokens = $6, output_tokens = $7, cached_input_tokens = $8, usage_estimated = $9,
       cost_micros = $10, finished_at = app_now() where tenant_id = $1 and id = $2`,
    [
      tenantId,
      callId,
      finishReason === 'interrupted' ? 'cut' : 'received',
      contributionId,
      finishReason,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens,
      usage.estimated,
      costMicros,
    ],
  );
  await dropPieces(tx, tenantId, callId);
}

async function dropPieces(tx: Transaction, tenantId: string, callId: string): Promise<void> {
  await tx.query('delete from call_pieces where tenant_id = $1 and call_id = $2', [
    tenantId,
    callId,
  ]);
}

/** Notes that a call brought nothing. */
export async function failCall(
  database: Database,
  tenantId: string,
  callId: string,
  error: DialecticError,
): Promise<void> {
  await database.asTenant(tenantId, async (tx) => {
    await tx.query(
      `update model_calls set status = 'failed', error = $3, finished_at = app_now()
       where tenant_id = $1 and id = $2`,
      [tenantId, callId, { code: error.code, message: error.message }],
    );
    await dropPieces(tx, tenantId, callId);
  });
}
