import type { SessionView } from './read.ts';

type Standing = Pick<SessionView, 'status' | 'gates' | 'awaiting' | 'untilStage' | 'workers'>;

/**
 * Where a session stands, in words that a list and the readme use alike. One that could run runs only
 * while a worker is there for it.
 */
export function describeStanding(session: Standing): string {
  const { status, gates, awaiting, untilStage, workers } = session;
  const reasons = gates.filter((gate) => gate !== 'user');
  if (reasons.length > 0) return `paused (${reasons.join(', ')})`;
  if (gates.length > 0) return 'paused';
  if (awaiting === 'until') return `stopped after ${untilStage}`;
  if (awaiting === 'review') return 'waiting for you';
  return status === 'running' && workers === 0 ? 'stopped' : status;
}
