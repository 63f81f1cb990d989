import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { sleep } from '../platform/clock.ts';

/** Waits before each further try to post. */
const AGAIN_MS = [250, 1_000, 4_000];

/**
 * Posts a call that was answered, and tries a transaction that failed again: a replay returns the
 * first posting. Where all tries fail, the error is thrown and the hold stays held, never void:
 * to void it would strike a paid call from the ledger.
 */
export async function postAnswered<T>(
  { database, tenantId }: { readonly database: Database; readonly tenantId: string },
  post: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (const waitMs of AGAIN_MS) {
    try {
      return await database.asTenant(tenantId, post);
    } catch {
      await sleep(waitMs); // the last try tells what is wrong
    }
  }
  return database.asTenant(tenantId, post);
}
