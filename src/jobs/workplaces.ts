import type { Database } from '../db/database.ts';

/** What a worker announces that it works on: one session, or all of the store. */
export const workplaceOf = (sessionId?: string): string =>
  sessionId === undefined ? 'work on all sessions' : `work on session ${sessionId}`;

/** How many workers would go on with each session at this moment, by its id. */
export async function countWorkers(
  database: Database,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const places = [workplaceOf(), ...sessionIds.map((id) => workplaceOf(id))];
  const [everywhere = 0, ...own] = await database.driver.countPresent(places);
  return new Map(sessionIds.map((id, at) => [id, everywhere + (own[at] ?? 0)]));
}
