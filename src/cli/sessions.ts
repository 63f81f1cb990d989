import { type ListedSession, listSessions, pickSession } from '../session/list-sessions.ts';
import { tell } from './output.ts';
import type { OpenStore } from './store.ts';

/** A session by its id or the end of it; the newest where none is named. */
export async function findSession(
  { database, tenantId }: OpenStore,
  wanted: string | undefined,
): Promise<ListedSession> {
  const sessions = await database.asTenant(tenantId, listSessions);
  const found = pickSession(sessions, wanted);
  if (wanted === undefined) tellAhead(sessions);
  return found;
}

/** Whoever asked for the newest should know that a date says so of another one. */
function tellAhead(sessions: readonly ListedSession[]): void {
  const ahead = sessions.filter((session) => session.ahead);
  if (ahead.length === 0) return;
  const dates = ahead.map(({ id, createdAt }) => `${id} (${createdAt.toISOString()})`);
  tell(
    `Dated after now, since a clock was ahead: ${dates.slice(0, 3).join(', ')}.` +
      ` Taken as the newest: ${sessions[0]!.id}. Name another one by its id.`,
  );
}
