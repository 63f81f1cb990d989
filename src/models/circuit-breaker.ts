import { DialecticError } from '../errors/errors.ts';

/** Keeps requests away from a provider that fails, and lets one try through after a while. */
export type CircuitBreaker = {
  /** Throws `provider_circuit_open`, with the time to wait, where no request may leave. */
  enter(): void;
  /** The provider answered, be it with a refusal. */
  succeed(): void;
  /** The provider failed, was silent or could not be reached. */
  fail(): void;
  /** The call ended without telling anything about the provider. */
  leave(): void;
};

type BreakerLimits = {
  readonly failures: number;
  readonly coolMs: number;
  readonly maxCoolMs: number;
};

const DEFAULT_LIMITS: BreakerLimits = { failures: 5, coolMs: 5_000, maxCoolMs: 60_000 };

/** Says nothing of counts and times, so that all who wait for a provider wait for the same reason. */
export const describeOutage = (provider: string): string =>
  `${provider} keeps failing; nothing is sent to it but a trial from time to time.`;

/** Opens after so many failures in a row; each failed trial doubles the wait. */
export function createCircuitBreaker(
  provider: string,
  nowMs: () => number,
  limits: BreakerLimits = DEFAULT_LIMITS,
): CircuitBreaker {
  let failures = 0;
  let coolMs = limits.coolMs;
  let openUntil: number | undefined;
  let trial = false;

  return {
    enter() {
      if (openUntil === undefined) return;
      const left = openUntil - nowMs();
      if (left > 0 || trial) {
        const retryAfterMs = Math.ceil(Math.max(left, limits.coolMs / 5));
        throw new DialecticError('provider_circuit_open', describeOutage(provider), {
          details: { provider, retryAfterMs, sent: false },
        });
      }
      trial = true;
    },
    succeed() {
      failures = 0;
      coolMs = limits.coolMs;
      openUntil = undefined;
      trial = false;
    },
    fail() {
      failures++;
      if (trial) coolMs = Math.min(coolMs * 2, limits.maxCoolMs);
      if (trial || failures >= limits.failures) openUntil = nowMs() + coolMs;
      trial = false;
    },
    leave() {
      trial = false;
    },
  };
}
