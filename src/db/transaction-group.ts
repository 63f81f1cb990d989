import { toDialecticError } from '../errors/errors.ts';
import { nextTurn } from '../platform/clock.ts';
import type { Database, Transaction } from './database.ts';

/** The last statements of a transaction, all given before one of them is awaited. */
type Work = (tx: Transaction) => Promise<unknown>;

type Waiting = {
  readonly work: Work;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** A group of this many answers takes PGlite's only connection for about a tenth of a second. */
const MOST = 8;

/**
 * Transactions that would only wait for each other: those of one session lock the same wallet and the
 * same stage. One is sent at a time; all that were given meanwhile go together as the next, with one
 * commit. Where a group fails none of it is saved, and each is tried alone.
 */
export class TransactionGroup {
  readonly #database: Database;
  readonly #tenantId: string;
  readonly #waiting: Waiting[] = [];
  #isSending = false;

  constructor(database: Database, tenantId: string) {
    this.#database = database;
    this.#tenantId = tenantId;
  }

  /** Whether nothing waits or is under way. */
  get isIdle(): boolean {
    return !this.#isSending;
  }

  /** Runs the work in a transaction, with whatever else waits; it may run twice. */
  add<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({ work, resolve: resolve as Waiting['resolve'], reject });
    if (!this.#isSending) void this.#send();
    return promise;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // Jobs that got their answers in one turn come together.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#run(this.#waiting.splice(0, MOST));
    this.#isSending = false;
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    const [first] = group;
    if (first && group.length === 1) return this.#runAlone(first);
    try {
      const results = await this.#transact((tx) => Promise.all(group.map(({ work }) => work(tx))));
      for (const [at, { resolve }] of group.entries()) resolve(results[at]);
    } catch (thrown) {
      // Whether it was saved is not known: each must look for itself.
      const isUnknown = toDialecticError(thrown).details['outcome'] === 'unknown';
      for (const one of group) {
        if (isUnknown) one.reject(thrown);
        else await this.#runAlone(one);
      }
    }
  }

  async #runAlone({ work, resolve, reject }: Waiting): Promise<void> {
    await this.#transact(work).then(resolve, reject);
  }

  #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#database.asTenant(this.#tenantId, (tx) => tx.finish(() => work(tx)));
  }
}
