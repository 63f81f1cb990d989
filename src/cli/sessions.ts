import type { SessionInfo } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { tell } from './output.ts';

/** A session by its id or the end of it; the newest where none is named. */
export async function findSession(
  dialectic: Dialectic,
  wanted: string | undefined,
): Promise<SessionInfo> {
  const found = await dialectic.find(wanted);
  if (wanted === undefined) tellAhead(found, await dialectic.list());
  return found;
}

/** Warns that a session whose date lies ahead was not taken as the newest. */
function tellAhead({ id: newest }: SessionInfo, sessions: readonly SessionInfo[]): void {
  const ahead = sessions.filter((session) => session.ahead);
  if (ahead.length === 0) return;
  const dates = ahead.map(({ id, createdAt }) => `${id} (${createdAt})`);
  tell(
    `Dated after now, since a clock was ahead: ${dates.slice(0, 3).join(', ')}.` +
      ` Taken as the newest: ${newest}. Name another one by its id.`,
  );
}
