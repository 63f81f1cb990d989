import { elapsedMs, nextTurn, Slices, sleep } from '../platform/clock.ts';

/** So long no call has left or come back: the worker has sent what it can, and models work. */
const QUIET_MS = 30;
/** Where jobs never leave the machine alone, as with models that answer at once, it writes then. */
const LATEST_MS = 5_000;
/** So long a write under way gives way to jobs, between two slices of it. */
const LONGEST_REST_MS = 100;
const LOOK_EVERY_MS = 3;

/** How busy this process is with jobs. */
export type Load = {
  /** Whether every running job waits for a model. */
  readonly isWaiting: () => boolean;
  /** How long ago a call has left, or was answered. */
  readonly quietForMs: () => number;
};

/** Writes something, and gives way to jobs between the steps of it. */
type Write<News> = (slices: Slices) => Promise<readonly News[]>;

/**
 * Writes beside the jobs of a process, one thing at a time, when they leave the machine alone: what a
 * stage has made is written while the models work on the next one, and not while that is planned.
 */
export class BackgroundWrites<News> {
  readonly #load: Load;
  readonly #latestMs: number;
  readonly #ending = new AbortController();
  readonly #breakingOff = new AbortController();
  #under: Promise<void> | undefined;
  #news: News[] = [];
  #failures: unknown[] = [];

  constructor(load: Load, latestMs = LATEST_MS) {
    this.#load = load;
    this.#latestMs = latestMs;
  }

  /** Whether `take` has something to tell. */
  get hasNews(): boolean {
    return this.#news.length > 0 || this.#failures.length > 0;
  }

  /** Writes at the next quiet moment, unless a write waits or is under way already. */
  start(write: Write<News>): void {
    this.#under ??= this.#run(write).finally(() => {
      this.#under = undefined;
    });
  }

  /** What was told by writes that have ended since; throws what one of them threw. */
  take(): News[] {
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
    return this.#news.splice(0);
  }

  /**
   * Starts nothing more, and waits for what is under way. With `isRepeated`, where the caller writes
   * all of it again, that is broken off at its next slice.
   */
  async end({ isRepeated = false } = {}): Promise<void> {
    this.#ending.abort();
    if (isRepeated) this.#breakingOff.abort();
    await this.#under;
  }

  async #run(write: Write<News>): Promise<void> {
    await this.#untilQuiet(this.#latestMs);
    if (this.#ending.signal.aborted) return;
    try {
      const giveWay = (): Promise<void> => this.#untilQuiet(LONGEST_REST_MS);
      const slices = new Slices(giveWay, this.#breakingOff.signal);
      this.#news.push(...(await write(slices)));
    } catch (thrown) {
      this.#failures.push(thrown);
    }
  }

  /** Resolves when jobs leave the machine alone, but after so long at the latest. */
  async #untilQuiet(mostMs: number): Promise<void> {
    const { isWaiting, quietForMs } = this.#load;
    const { signal } = this.#ending;
    const latest = elapsedMs() + mostMs;
    await nextTurn();
    while (!signal.aborted && elapsedMs() < latest) {
      if (isWaiting() && quietForMs() >= QUIET_MS) return;
      await sleep(LOOK_EVERY_MS, signal);
    }
  }
}
