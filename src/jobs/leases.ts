import type { Database } from '../db/database.ts';
import { toDialecticError } from '../errors/errors.ts';
import { sleep } from '../platform/clock.ts';
import { leaseLost } from './context.ts';
import { extendLeases } from './queries.ts';
import type { Job } from './types.ts';

const RENEW_AGAIN_MS = 500;

type HeldJob = { readonly job: Job; readonly controller: AbortController };

/** The jobs that a worker runs, with the signal that stops each when its lease is gone. */
export class LeaseKeeper {
  readonly #database: Database;
  readonly #workerId: string;
  readonly #leaseMs: number;
  readonly #held = new Map<string, HeldJob>();
  #idle: (() => void)[] = [];
  #renewing = false;

  constructor(database: Database, workerId: string, leaseMs: number) {
    this.#database = database;
    this.#workerId = workerId;
    this.#leaseMs = leaseMs;
  }

  get size(): number {
    return this.#held.size;
  }

  hold(job: Job): AbortSignal {
    const controller = new AbortController();
    this.#held.set(job.leaseToken, { job, controller });
    return controller.signal;
  }

  drop(job: Job): void {
    this.#held.delete(job.leaseToken);
    if (this.#held.size > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }

  /** Extends every lease and aborts the jobs that are no longer this worker's. */
  async extend(): Promise<void> {
    const before = [...this.#held.values()];
    const jobs = before.map(({ job }) => job);
    const extended = await extendLeases(this.#database, this.#workerId, this.#leaseMs, jobs);
    const mine = new Set(extended);
    for (const { job, controller } of before) {
      const gone = !mine.has(job.leaseToken) && this.#held.has(job.leaseToken);
      if (gone) controller.abort(leaseLost(job));
    }
  }

  /**
   * As extend(), again and again while the store is away: leases that ran out meanwhile must be
   * extended as soon as it is back, before a worker takes them for abandoned.
   */
  async renew(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      while (this.#held.size > 0) {
        try {
          return await this.extend();
        } catch (error) {
          if (!toDialecticError(error).retryable) return; // closed: there is nothing to extend
          await sleep(RENEW_AGAIN_MS);
        }
      }
    } finally {
      this.#renewing = false;
    }
  }

  /** Extends the leases now and throws if this job's is gone. */
  async require(job: Job): Promise<void> {
    await this.extend();
    this.#held.get(job.leaseToken)?.controller.signal.throwIfAborted();
  }

  /** Resolves when no job runs, after `ms`, or at the signal; it leaves no timer behind. */
  async untilIdle(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#held.size === 0) return;
    const idle = new AbortController();
    this.#idle.push(() => idle.abort());
    await sleep(ms, signal ? AbortSignal.any([idle.signal, signal]) : idle.signal);
  }

  /** Tells every handler to stop and returns their jobs. */
  abortAll(): Job[] {
    const jobs = [...this.#held.values()];
    for (const { controller } of jobs) controller.abort(new Error('the worker stops'));
    return jobs.map(({ job }) => job);
  }
}
