import { DialecticError } from '../errors/errors.ts';
import { AWAKE, elapsedMs, sleep } from '../platform/clock.ts';

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
  /** Aborts when a limit is passed, or with the signal of whoever waits for the call. */
  readonly signal: AbortSignal;
  /** The error of the limit that was passed. */
  readonly expired: DialecticError | undefined;
  /** Bytes arrived. */
  touch(): void;
  stop(): void;
};

/** Watches one call: time to the first byte, silence between bytes, the whole. */
export function startWatchdog(
  limits: TimeLimits,
  clock: ModelClock,
  outer?: AbortSignal,
): Watchdog {
  const call = new AbortController();
  const nap = { wakesAt: 0, controller: new AbortController() };
  const start = clock.nowMs();
  let lastByte: number | undefined;
  let expired: DialecticError | undefined;
  let isStopped = false;

  const nextLimit = (): { what: string; at: number } => {
    const whole = { what: `did not end within ${limits.totalMs} ms`, at: start + limits.totalMs };
    const pause =
      lastByte === undefined
        ? { what: `sent nothing for ${limits.firstByteMs} ms`, at: start + limits.firstByteMs }
        : { what: `fell silent for ${limits.silenceMs} ms`, at: lastByte + limits.silenceMs };
    return pause.at < whole.at ? pause : whole;
  };

  async function watch(): Promise<void> {
    while (!isStopped) {
      const { what, at } = nextLimit();
      const left = at - clock.nowMs();
      if (left <= 0) {
        expired = new DialecticError('provider_timeout', `The provider ${what}.`);
        call.abort(expired);
        return;
      }
      nap.wakesAt = at;
      if (nap.controller.signal.aborted) nap.controller = new AbortController();
      await clock.sleep(left, nap.controller.signal);
    }
  }
  void watch();

  const follow = (): void => call.abort(outer?.reason);
  if (outer?.aborted) follow();
  else outer?.addEventListener('abort', follow);

  return {
    signal: call.signal,
    get expired() {
      return expired;
    },
    // Timers are set again only for a limit that comes before them: streams have thousands of pieces.
    touch() {
      lastByte = clock.nowMs();
      if (lastByte + limits.silenceMs < nap.wakesAt) nap.controller.abort(AWAKE);
    },
    stop() {
      isStopped = true;
      nap.controller.abort(AWAKE);
      outer?.removeEventListener('abort', follow);
    },
  };
}
