import type { Database } from '../db/database.ts';
import { AWAKE, sleep } from '../platform/clock.ts';
import { onceFor } from '../text/memo.ts';

/** Some tens of requests are prepared in that time; what is computed may be waited for as well. */
const LONGEST_WAIT_MS = 50;
/** The bytes of a request are written in the turns after it was sent. */
const WRITTEN_AFTER_MS = 3;

/**
 * The jobs of a process that prepare a request. What code computes takes the main thread for some
 * milliseconds, and jobs of one wave come to it together: requests that do not need what is computed
 * leave first, since models take longer than code.
 */
export class Departures {
  readonly #expected = new Set<Promise<void>>();

  /** A job begins that may send a request; what is returned says that it was sent, or will not be. */
  expect(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#expected.add(promise);
    return () => {
      this.#expected.delete(promise);
      resolve();
    };
  }

  /** Resolves when the requests that are prepared at this moment have left, or after a while. */
  async untilGone(): Promise<void> {
    if (this.#expected.size === 0) return;
    const enough = new AbortController();
    void Promise.all(this.#expected).then(() => enough.abort(AWAKE));
    await sleep(LONGEST_WAIT_MS, enough.signal);
    await sleep(WRITTEN_AFTER_MS);
  }
}

export const departuresOf = onceFor((_database: Database) => new Departures());
