import { toDialecticError } from '../errors/errors.ts';
import { nextTurn } from '../platform/clock.ts';
import type { Database } from './database.ts';
import type { Transaction } from './transaction.ts';

/** The last statements of a transaction, all given before one of them is awaited. */
type Work = (tx: Transaction) => Promise<unknown>;

type Waiting = {
  readonly work: Work;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

const tellNobody = (): void => {};

/**
 * Transactions that would only wait for each other: those of one session lock the same wallet and the
 * same stage. One is sent at a time; all that were given meanwhile go together as the next, with one
 * commit. Where a group fails none of it is saved, and each is tried alone.
 */
export class TransactionGroup {
  readonly #database: Database;
  readonly #tenantId: string;
  readonly #most: number;
  readonly #waiting: Waiting[] = [];
  #isSending = false;

  constructor(database: Database, tenantId: string, most: number) {
    this.#database = database;
    this.#tenantId = tenantId;
    this.#most = most;
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
    let tell = tellNobody;
    while (this.#waiting.length > 0) tell = await this.#run(tell);
    this.#isSending = false;
    tell();
  }

  /**
   * Runs what waits, and returns what tells the outcome. That of the group before is told when this one
   * is on its way: who hears it has work to do, which the next statements would wait for.
   */
  async #run(tellBefore: () => void): Promise<() => void> {
    let group: Waiting[] | undefined;
    try {
      const running = this.#transact((tx) => {
        // Not before there is a connection: more may have come while it was waited for.
        const taken = this.#waiting.splice(0, this.#most);
        group = taken;
        return Promise.all(
          taken.map(async ({ work, resolve }) => ({ resolve, result: await work(tx) })),
        );
      });
      tellBefore();
      const results = await running;
      return () => {
        for (const { resolve, result } of results) resolve(result);
      };
    } catch (thrown) {
      // There was no connection, and each of them would wait as long for its own.
      const isUnsent = group === undefined;
      const failed = group ?? this.#waiting.splice(0);
      // Whether it was saved is not known: each must look for itself.
      const isUnknown = toDialecticError(thrown).details['outcome'] === 'unknown';
      const tells: (() => void)[] = [];
      for (const one of failed) {
        if (isUnsent || isUnknown || failed.length === 1) tells.push(() => one.reject(thrown));
        else tells.push(await this.#runAlone(one));
      }
      return () => {
        for (const tell of tells) tell();
      };
    }
  }

  async #runAlone({ work, resolve, reject }: Waiting): Promise<() => void> {
    try {
      const result = await this.#transact(work);
      return () => resolve(result);
    } catch (thrown) {
      return () => reject(thrown);
    }
  }

  #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const finish = (tx: Transaction): Promise<T> => tx.finish(() => work(tx));
    return this.#database.asTenant(this.#tenantId, finish, { keepsPlans: true });
  }
}
