import type { DialecticError } from '../errors/errors.ts';
import { formatAmount, parseAmount } from './amounts.ts';
import type { RunBudget } from './session-budgets.ts';

/** Micro-dollars and tokens; null where they are not limited. */
export type Allowance = { readonly usdMicros: number | null; readonly tokens: number | null };

/** What a call may cost, or has cost. */
export type Amounts = { readonly usdMicros: number; readonly tokens: number };

/** What a person gave as a budget. */
export const allowanceOf = ({ usd, tokens }: RunBudget): Allowance => ({
  usdMicros: usd === undefined ? null : parseAmount(String(usd), 'USD'),
  tokens: tokens === undefined ? null : parseAmount(String(tokens), 'token'),
});

const UNLIMITED: Allowance = { usdMicros: null, tokens: null };

/**
 * What calls may cost together, in this process alone. A call takes its worst case before it leaves and
 * gives back what it did not use; one that has to wait for calls in flight to do so waits.
 */
export class AllowanceGate {
  readonly #left: { usdMicros: number; tokens: number };
  #inFlight: Amounts = { usdMicros: 0, tokens: 0 };
  #ended = Promise.withResolvers<void>();

  constructor({ usdMicros, tokens }: Allowance = UNLIMITED) {
    this.#left = { usdMicros: usdMicros ?? Infinity, tokens: tokens ?? Infinity };
  }

  /**
   * Takes a worst case; the returned function is called once with what was used. Throws what `short`
   * makes of the reason where even the end of all calls in flight would not leave enough.
   */
  async take(
    worst: Amounts,
    short: (why: string) => DialecticError,
    signal?: AbortSignal,
  ): Promise<(used: Amounts) => void> {
    for (;;) {
      signal?.throwIfAborted();
      const lacking = (['usdMicros', 'tokens'] as const).find(
        (currency) => worst[currency] > this.#left[currency],
      );
      if (lacking === undefined) return this.#hold(worst);
      const left = this.#left[lacking];
      if (worst[lacking] > left + this.#inFlight[lacking]) {
        const currency = lacking === 'usdMicros' ? 'USD' : 'token';
        const [most, rest] = [worst[lacking], left].map((one) => formatAmount(one, currency));
        throw short(`${most} at most, and the budget of the run leaves ${rest}`);
      }
      await untilEither(this.#ended.promise, signal);
    }
  }

  #hold(worst: Amounts): (used: Amounts) => void {
    this.#move(worst, 1);
    return (used) => {
      this.#move(worst, -1);
      this.#left.usdMicros -= used.usdMicros;
      this.#left.tokens -= used.tokens;
      this.#ended.resolve();
      this.#ended = Promise.withResolvers<void>();
    };
  }

  /** Moves a worst case from what is left to what is in flight, or back. */
  #move({ usdMicros, tokens }: Amounts, sign: 1 | -1): void {
    this.#left.usdMicros -= sign * usdMicros;
    this.#left.tokens -= sign * tokens;
    this.#inFlight = {
      usdMicros: this.#inFlight.usdMicros + sign * usdMicros,
      tokens: this.#inFlight.tokens + sign * tokens,
    };
  }
}

/** Resolves with the promise, or as soon as the signal aborts. */
async function untilEither(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal?.addEventListener('abort', onAbort, { once: true });
  await Promise.race([promise, aborted.promise]);
  signal?.removeEventListener('abort', onAbort);
}
