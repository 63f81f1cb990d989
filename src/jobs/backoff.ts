import { DialecticError } from '../platform/errors.ts';
import { DEFAULT_JOB_SETTINGS, type JobSettings } from './settings.ts';

const LONGEST_ASKED_MS = 10 * 60_000;

/**
 * How long a failed job rests before its next try: doubling, capped, and spread by chance over the
 * upper half, so that jobs which failed together do not come back together. A provider's
 * `retry-after` comes first, up to ten minutes.
 */
export function backoffMs(
  attempt: number,
  error: unknown,
  chance: number,
  { firstRetryMs, longestRetryMs }: JobSettings = DEFAULT_JOB_SETTINGS,
): number {
  const asked = error instanceof DialecticError ? error.details['retryAfterMs'] : undefined;
  if (typeof asked === 'number' && asked >= 0) return Math.min(asked, LONGEST_ASKED_MS);
  const full = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempt, 40));
  return Math.round(full * (0.5 + chance / 2));
}
