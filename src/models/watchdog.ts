import { DialecticError } from '../errors/errors.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';

/** How long one call may take, in its parts. */
export type TimeLimits = {
  readonly firstByteMs: number;
  readonly silenceMs: number;
  readonly totalMs: number;
};

/** Generous, because reasoning models think for minutes before the first word. */
export const DEFAULT_TIMEOUTS: TimeLimits = {
  firstByteMs: 180_000,
  silenceMs: 180_000,
  totalMs: 1_800_000,
};

/** Time as the watchdog and the breaker see it, so that tests can turn it. */
export type ModelClock = {
  readonly nowMs: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

export const systemClock: ModelClock = { nowMs: elapsedMs, sleep };

type Watchdog = {
  /** Aborts, with the error as reason, when a limit is passed. */
  readonly signal: AbortSignal;
  /** Bytes arrived. */
  touch(): void;
  stop(): void;
};

/** Watches one call: time to the first byte, silence between bytes, the whole. */
export function startWatchdog(limits: TimeLimits, clock: ModelClock): Watchdog {
  const barked = new AbortController();
  let nap = new AbortController();
  const stopped = new AbortController();
  const start = clock.nowMs();
  let lastByte: number | undefined;

  const nextLimit = (): { what: string; at: number } => {
    const whole = { what: `did not end within ${limits.totalMs} ms`, at: start + limits.totalMs };
    const pause =
      lastByte === undefined
        ? { what: `sent nothing for ${limits.firstByteMs} ms`, at: start + limits.firstByteMs }
        : { what: `fell silent for ${limits.silenceMs} ms`, at: lastByte + limits.silenceMs };
    return pause.at < whole.at ? pause : whole;
  };

  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      const { what, at } = nextLimit();
      const left = at - clock.nowMs();
      if (left <= 0) {
        barked.abort(new DialecticError('provider_timeout', `The provider ${what}.`));
        return;
      }
      nap = new AbortController();
      await clock.sleep(left, nap.signal);
    }
  }
  void watch();

  return {
    signal: barked.signal,
    touch() {
      const first = lastByte === undefined;
      lastByte = clock.nowMs();
      if (first) nap.abort();
    },
    stop() {
      stopped.abort();
      nap.abort();
    },
  };
}
