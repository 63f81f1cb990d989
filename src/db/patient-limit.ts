import { AWAKE, elapsedMs, sleep } from '../platform/clock.ts';

/**
 * A new connection is a process of the server that has to load its caches and plan every statement
 * before it is of any help, and processes that take turns on few processors push each other's
 * caches out: job trees took 0.95 s over 2 connections of each worker and 1.15 s over 10.
 */
const PATIENCE_MS = 500;
/**
 * Who holds a connection for so long waits for something itself, or writes files under a lock: others
 * do not wait for it.
 */
const LONG_MS = 100;

/** One who holds a connection. */
type Place = { readonly since: number };

/** Lets few connections do the work of many callers, and more where few make a caller wait. */
export class PatientLimit {
  readonly #most: number;
  #limit: number;
  readonly #places = new Set<Place>();
  /** How often a connection was given back. */
  #returns = 0;
  readonly #waiting = new Set<(place: Place) => void>();

  constructor(most: number, fewest: number) {
    this.#most = most;
    this.#limit = Math.min(fewest, most);
  }

  /**
   * Resolves when the caller may take a connection, with what gives its place back; with `most` in use
   * the pool makes it wait. One who comes `isAside` is let in at once and counts from the start as one
   * who holds a connection for long.
   */
  async enter(isAside = false): Promise<() => void> {
    const place = isAside || this.#isFree() ? this.#hold(isAside) : await this.#wait();
    return () => this.#leave(place);
  }

  async #wait(): Promise<Place> {
    const freed = new AbortController();
    let given: Place | undefined;
    const take = (place: Place): void => {
      given = place;
      freed.abort(AWAKE);
    };
    this.#waiting.add(take);
    const since = elapsedMs();
    let returns: number;
    do {
      returns = this.#returns;
      await sleepLong(freed.signal);
      if (given) return given;
    } while (!this.#isFree() && this.#returns > returns && elapsedMs() - since < PATIENCE_MS);
    this.#waiting.delete(take);
    if (!this.#isFree()) this.#limit = Math.min(this.#most, this.#limit + 1);
    return this.#hold();
  }

  #isFree(): boolean {
    if (this.#limit >= this.#most || this.#places.size < this.#limit) return true;
    const now = elapsedMs();
    const brief = [...this.#places].filter(({ since }) => now - since < LONG_MS);
    return brief.length < this.#limit;
  }

  #hold(isAside = false): Place {
    const place = { since: isAside ? Number.NEGATIVE_INFINITY : elapsedMs() };
    this.#places.add(place);
    return place;
  }

  #leave(place: Place): void {
    this.#returns++;
    this.#places.delete(place);
    const [take] = this.#waiting;
    if (!take || !this.#isFree()) return;
    this.#waiting.delete(take);
    take(this.#hold());
  }
}

/** A timer may fire within the millisecond before its time: who came last would look brief still. */
async function sleepLong(signal: AbortSignal): Promise<void> {
  const until = elapsedMs() + LONG_MS;
  do await sleep(until - elapsedMs(), signal);
  while (!signal.aborted && elapsedMs() < until);
}
