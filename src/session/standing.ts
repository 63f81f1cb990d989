import type { SessionView } from './read.ts';

type Standing = Pick<SessionView, 'status' | 'gates' | 'awaiting' | 'untilStage'>;

/** Where a session stands, in words that a list and the readme use alike. */
export function describeStanding({ status, gates, awaiting, untilStage }: Standing): string {
  if (gates.length > 0) return `paused (${gates.join(', ')})`;
  if (awaiting === 'until') return `stopped after ${untilStage}`;
  return awaiting === 'review' ? 'awaiting review' : status;
}
