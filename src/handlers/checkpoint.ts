import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelPrice } from '../models/prices.ts';
import { elapsedMs, every } from '../platform/clock.ts';
import { GENERATION } from './begin-call.ts';

const PIECE_BYTES = 2_000;
const PIECE_MS = 1_000;

/**
 * Saves what arrives of an answer. While one piece is being written the next gathers, so that a
 * crash costs at most what came in the second or the two kilobytes since, and one write. A timer
 * writes what waits when the stream stalls or the answer is not saved within a second of its end, and
 * tries a piece again whose write failed.
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
  #firstMs: number | undefined;
  #lastMs = elapsedMs();
  #writing: Promise<void> | undefined;
  readonly #timer = every(PIECE_MS, () => this.#begin(true));

  constructor(database: Database, tenantId: string, callId: string) {
    this.#database = database;
    this.#tenantId = tenantId;
    this.#callId = callId;
  }

  add(text: string): void {
    if (this.#firstMs === undefined) this.#firstMs = this.#lastMs = elapsedMs();
    this.#waiting += text;
    this.#bytes += Buffer.byteLength(text);
    if (this.#isDue()) this.#begin();
  }

  /** Ends it. Where the answer was not saved, the rest is written, due or not, for the next try. */
  async end(isSaved: boolean): Promise<void> {
    this.#timer.stop();
    await this.#writing;
    if (!isSaved) await this.#write(true);
  }

  #isDue(): boolean {
    const isFull = this.#bytes >= PIECE_BYTES && this.#piece === undefined && !this.#isShort();
    return isFull || elapsedMs() - this.#lastMs >= PIECE_MS;
  }

  /** Whether it began less than a second ago: a short answer is saved whole, and needs no pieces. */
  #isShort(): boolean {
    return this.#seq === 0 && elapsedMs() - (this.#firstMs ?? elapsedMs()) < PIECE_MS;
  }

  /** One at a time; the place is free again behind it, also where there was nothing to write. */
  #begin(all = false): void {
    this.#writing ??= this.#write(all).finally(() => {
      this.#writing = undefined;
    });
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
  }

  #cut(): { readonly seq: number; readonly body: string } {
    const piece = { seq: this.#seq++, body: this.#waiting };
    this.#waiting = '';
    this.#bytes = 0;
    return piece;
  }

  /** The lock on the call keeps a piece from coming behind the end of its call, which drops them. */
  async #save(seq: number, body: string): Promise<void> {
    await this.#database.asTenant(this.#tenantId, (tx) =>
      tx.finish(() =>
        tx.query(
          `insert into call_pieces (tenant_id, call_id, seq, body)
           select $1, $2, $3, $4 from model_calls
           where id = $2 and status = 'sent'
           for share
           on conflict do nothing`,
          [tx.tenantId, this.#callId, seq, body],
          'save-piece',
        ),
      ),
    );
  }
}

/** A call whose process died, with the text that was saved of it. */
export type AbandonedCall = {
  readonly callId: string;
  readonly text: string;
  /** The price at which its money is held; null where it was unknown. */
  readonly price: ModelPrice | null;
};

/** Finds a call of this job that was sent by a process that died since. */
export async function findAbandoned(
  tx: TenantQueries,
  job: Job,
): Promise<AbandonedCall | undefined> {
  const [row] = await tx.query<AbandonedCall>(
    `select c.id as "callId", h.price, coalesce((
       select string_agg(p.body, '' order by p.seq) from call_pieces p
       where p.tenant_id = c.tenant_id and p.call_id = c.id), '') as text
     from model_calls c left join holds h
       on h.tenant_id = c.tenant_id and h.call_id = c.id and h.purpose = $2
     where c.job_id = $1 and c.status = 'sent' and c.purpose <> 'embedding'
     order by c.id desc limit 1`,
    [job.id, GENERATION],
    'find-abandoned',
  );
  return row;
}
