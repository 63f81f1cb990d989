import type { Database } from '../db/database.ts';
import { nextTurn, sleep } from '../platform/clock.ts';
import { completeJobs } from './queries.ts';
import type { Job } from './types.ts';

const TRIES = 5;

/**
 * Completes jobs that had no effects in groups: while one statement is under way the next group
 * gathers. One commit for many jobs is what makes the table a fast queue.
 */
export class CompletionBatch {
  readonly #database: Database;
  readonly #settled: (lost: readonly Job[]) => void;
  #waiting: Job[] = [];
  #flushing: Promise<void> | undefined;

  constructor(database: Database, settled: (lost: readonly Job[]) => void) {
    this.#database = database;
    this.#settled = settled;
  }

  add(job: Job): void {
    this.#waiting.push(job);
    this.#flushing ??= this.#flush();
  }

  /** Resolves when everything that was added is settled. */
  async drain(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async #flush(): Promise<void> {
    await nextTurn();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const done = new Set(await this.#complete(group));
      this.#settled(group.filter((job) => !done.has(job.id)));
    }
    this.#flushing = undefined;
  }

  /** What never succeeds is run again by someone once its lease has run out. */
  async #complete(group: readonly Job[]): Promise<string[]> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      try {
        return await completeJobs(this.#database, group);
      } catch {
        await sleep(50 * attempt); // a deadlock with those who fail or cancel, or a lost connection
      }
    }
    return [];
  }
}
