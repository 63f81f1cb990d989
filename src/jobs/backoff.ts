import { DialecticError } from '../errors/errors.ts';
import { DEFAULT_JOB_SETTINGS, type JobSettings } from './settings.ts';

/** The longest `retry-after` that a job honours; beyond it the job fails and names the time. */
export const LONGEST_ASKED_MS = 10 * 60_000;

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
  const asked = askedMs(error);
  if (asked !== undefined) return Math.min(asked, LONGEST_ASKED_MS);
  const full = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempt, 40));
  return Math.round(full * (0.5 + chance / 2));
}

/** How long a provider asks to wait, where the error carries that. */
export function askedMs(error: unknown): number | undefined {
  const asked = error instanceof DialecticError ? error.details['retryAfterMs'] : undefined;
  return typeof asked === 'number' && asked >= 0 ? asked : undefined;
}
