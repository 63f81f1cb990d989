import { elapsedMs, sleep } from '../platform/clock.ts';

/** So long no call has left or come back: the worker has sent what it can, and models work. */
const QUIET_MS = 30;
/** Where jobs never leave the machine alone, as with models that answer at once, it writes then. */
const LATEST_MS = 5_000;

/** How busy this process is with jobs. */
export type Load = {
  /** Whether every running job waits for a model. */
  readonly isWaiting: () => boolean;
  /** Changes with every call that leaves or is answered. */
  readonly changes: () => number;
};

/**
 * Writes beside the jobs of a process, one thing at a time, when they leave the machine alone: what a
 * stage has made is written while the models work on the next one, and not while that is planned.
 */
export class BackgroundWrites<News> {
  readonly #load: Load;
  readonly #latestMs: number;
  readonly #ending = new AbortController();
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
  start(write: () => Promise<readonly News[]>): void {
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

  /** Starts nothing more, and waits for what is under way. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#under;
  }

  async #run(write: () => Promise<readonly News[]>): Promise<void> {
    const { signal } = this.#ending;
    await this.#untilQuiet(signal);
    if (signal.aborted) return;
    try {
      this.#news.push(...(await write()));
    } catch (thrown) {
      this.#failures.push(thrown);
    }
  }

  async #untilQuiet(signal: AbortSignal): Promise<void> {
    const { isWaiting, changes } = this.#load;
    const latest = elapsedMs() + this.#latestMs;
    let before: number;
    do {
      before = changes();
      await sleep(QUIET_MS, signal);
    } while (!signal.aborted && elapsedMs() < latest && !(isWaiting() && changes() === before));
  }
}
