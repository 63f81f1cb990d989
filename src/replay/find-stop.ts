import type { Process } from '../recipe/types.ts';
import type { RecordedRun } from './read-recorded-run.ts';

/** The stage after which a replay rests, since the recorded run went no further in its last pass. */
export function findStop(
  { settings: { session }, lastStages }: Pick<RecordedRun, 'settings' | 'lastStages'>,
  { stages }: Process,
): string | null {
  if (session.status === 'completed' || session.awaiting === 'until') return session.until;
  return stages.findLast(({ key }) => lastStages.has(key))?.key ?? session.until;
}
