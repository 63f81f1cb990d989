import { elapsedMs, sleep } from '../platform/clock.ts';

/**
 * A new connection is a process of the server that has to load its caches and plan every statement
 * before it is of any help, and processes that take turns on few processors push each other's
 * caches out: job trees took 0.95 s over 2 connections of each worker and 1.15 s over 10.
 */
const PATIENCE_MS = 500;
/** For so long without a connection given back the holders wait for something themselves. */
const STUCK_MS = 100;
const FEWEST = 2;

/** Lets few connections do the work of many callers, and more where few make a caller wait. */
export class PatientLimit {
  readonly #most: number;
  #limit: number;
  #used = 0;
  /** How often a connection was given back. */
  #returns = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(FEWEST, most);
  }

  /** Resolves when the caller may take a connection; with `most` in use the pool makes it wait. */
  async enter(): Promise<void> {
    if (this.#used < this.#limit || this.#limit >= this.#most) {
      this.#used++;
      return;
    }
    const freed = new AbortController();
    const take = (): void => freed.abort();
    this.#waiting.add(take);
    const since = elapsedMs();
    let returns: number;
    do {
      returns = this.#returns;
      await sleep(STUCK_MS, freed.signal);
      // The caller that left has handed its place over.
      if (freed.signal.aborted) return;
    } while (this.#returns > returns && elapsedMs() - since < PATIENCE_MS);
    this.#waiting.delete(take);
    this.#used++;
    this.#limit = Math.min(this.#most, Math.max(this.#limit, this.#used));
  }

  leave(): void {
    this.#returns++;
    const [take] = this.#waiting;
    if (!take) {
      this.#used--;
      return;
    }
    this.#waiting.delete(take);
    take();
  }
}
