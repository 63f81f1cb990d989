import type { Transaction } from '../db/transaction.ts';

/** Several times what the requests of a long debate hold. */
const MOST_KNOWN = 20_000;

/**
 * The texts that this process has seen stored in a database: most of a request stands there already
 * and need not be sent again. Where one of them was erased meanwhile, the foreign key of what refers
 * to it refuses; then all have to be sent.
 */
export class StoredTexts {
  readonly #known = new Set<string>();
  readonly #sent = new WeakMap<Transaction, Set<string>>();

  /** Whether a text has to be sent in this transaction; asked again, it counts as sent. */
  mustSend(tx: Transaction, hash: string): boolean {
    if (this.#known.has(`${tx.tenantId}/${hash}`)) return false;
    const sent = this.#sent.get(tx) ?? new Set();
    this.#sent.set(tx, sent);
    const isNew = !sent.has(hash);
    sent.add(hash);
    return isNew;
  }

  /** Notes the texts of a transaction that was committed. */
  keep(tenantId: string, hashes: readonly string[]): void {
    for (const hash of hashes) this.#known.add(`${tenantId}/${hash}`);
    for (const oldest of this.#known) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
  }

  forget(): void {
    this.#known.clear();
  }
}
