import { DialecticError } from '../platform/errors.ts';

const BASE_MS = 500;
const CAP_MS = 60_000;
const LONGEST_ASKED_MS = 10 * 60_000;

/**
 * How long a failed job rests before its next try: doubling, capped, and spread by chance so that
 * jobs which failed together do not come back together. What a provider asks for comes first.
 */
export function backoffMs(attempt: number, error: unknown, chance: number): number {
  const asked = error instanceof DialecticError ? error.details['retryAfterMs'] : undefined;
  if (typeof asked === 'number' && asked >= 0) return Math.min(asked, LONGEST_ASKED_MS);
  const full = Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempt, 20));
  return Math.round(full * (0.5 + chance / 2));
}
