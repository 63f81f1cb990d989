/** Time of this process. Leases and due times use the database's clock, never this one. */
export const now = (): Date => new Date();

/** Milliseconds that only ever grow, for measuring. */
export const elapsedMs = (): number => performance.now();

/** A reason for aborts that only end a sleep: without one each makes an exception with its stack. */
export const AWAKE = 'awake';

/** Resolves after `ms`, or as soon as the signal aborts; it never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
}

/** Lets everything that is ready run first, I/O included. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** So long may a loop keep the thread: an answer or a timer waits for it. */
const SLICE_MS = 3;

/** Comes out of a long loop that was told to end between two of its steps. */
export class BrokenOff extends Error {}

/** Lets the rest of the process in between the steps of a long loop. */
export class Slices {
  readonly #giveWay: () => Promise<void>;
  readonly #signal: AbortSignal | undefined;
  #since = elapsedMs();
  #restedMs = 0;

  /** `giveWay` resolves when the loop may go on; the signal breaks it off. */
  constructor(giveWay: () => Promise<void> = nextTurn, signal?: AbortSignal) {
    this.#giveWay = giveWay;
    this.#signal = signal;
  }

  /** Whether the loop was told to end. */
  get isBrokenOff(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** How long the loop has given way in all. */
  get restedMs(): number {
    return this.#restedMs;
  }

  /** Called after every step; it gives way when the steps have taken long enough. */
  async rest(): Promise<void> {
    if (this.isBrokenOff) throw new BrokenOff('It was told to end.');
    const from = elapsedMs();
    if (from - this.#since < SLICE_MS) return;
    await this.#giveWay();
    this.#since = elapsedMs();
    this.#restedMs += this.#since - from;
  }
}

/** The outcome of a promise; rejects with the signal's reason as soon as that aborts. */
export async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Calls `tick` every `ms` until stopped; it does not keep the process alive. */
export function every(ms: number, tick: () => void): { stop(): void } {
  const timer = setInterval(tick, ms);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Rejects with `onTimeout()` when the promise takes longer than `ms`. */
export async function withTimeout<T>(
  promise: Promise<T>,
  ms: number,
  onTimeout: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
