import type { SessionEvent } from '../session/event-types.ts';

/** Shorter rests pass before anybody wonders. */
const LEAST_TOLD_MS = 10_000;

/** What the run waits for and until when, one line for each reason among these events. */
export function describeWaits(events: readonly SessionEvent[], now: Date): string[] {
  const lines = events.flatMap((event) => {
    if (event.kind !== 'job-retried') return [];
    const restMs = event.nextTryAt.getTime() - now.getTime();
    if (restMs < LEAST_TOLD_MS) return [];
    const { message, code } = event.error ?? {};
    const until = event.nextTryAt.toISOString().replace(/\.\d+Z$/, 'Z');
    const reason = `${message ?? 'a fault'} (${code ?? 'no code'})`;
    const rest = restMs < 90_000 ? `${Math.round(restMs / 1_000)} s` : inMinutes(restMs);
    return [`Waiting until ${until}, ${rest} from now: ${reason} Ctrl-C stops the run.`];
  });
  return [...new Set(lines)];
}

const inMinutes = (ms: number): string => `${Math.round(ms / 60_000).toLocaleString('en')} min`;
