import type { Database } from '../../src/db/database.ts';
import type { SessionEvent } from '../../src/session/event-types.ts';
import { readSessionEvents, type SessionEventPage } from '../../src/session/events.ts';
import { NO_EVENTS, reduceSession, type SessionState } from '../../src/session/session-state.ts';

/** The state that the log alone gives, from its beginning. */
export async function rebuild(
  database: Database,
  tenantId: string,
  sessionId: string,
): Promise<SessionState> {
  let state = NO_EVENTS;
  for await (const { events } of readPages(database, tenantId, sessionId)) {
    state = reduceSession(state, events);
  }
  return state;
}

/** All events of a session so far. */
export async function readLog(
  database: Database,
  tenantId: string,
  sessionId: string,
): Promise<SessionEvent[]> {
  const all: SessionEvent[] = [];
  for await (const { events } of readPages(database, tenantId, sessionId)) all.push(...events);
  return all;
}

async function* readPages(database: Database, tenantId: string, sessionId: string) {
  let after: string | null = null;
  for (let isLast = false; !isLast; ) {
    const page: SessionEventPage = await readSessionEvents(database, {
      tenantId,
      sessionId,
      after,
      limit: 50,
    });
    yield page;
    ({ cursor: after, isLast } = page);
  }
}

/** What differs between the log and the tables; empty where the log tells all. */
export async function compareLog(
  database: Database,
  tenantId: string,
  sessionId: string,
): Promise<string[]> {
  const state = await rebuild(database, tenantId, sessionId);
  const told = [
    `session ${state.status} ${[...state.gates].toSorted().join()} ${state.iteration}`,
    ...[...state.jobs].map(([id, { status, continued }]) => `${id} ${status} ${continued}`),
  ];
  const stored = await database.asTenant(tenantId, (tx) =>
    tx.query<{ line: string }>(
      `select concat_ws(' ', 'session', status, array_to_string(gates, ','), iteration) as line
       from sessions where id = $1 and gates <> '{}'
       union all select concat_ws('  ', 'session ' || status, iteration)
       from sessions where id = $1 and gates = '{}'
       union all select concat_ws(' ', id, status, continued::text) from jobs
       where session_id = $1`,
      [sessionId],
    ),
  );
  const lines = new Set(stored.map(({ line }) => line));
  const wrong = told.filter((line) => !lines.has(line));
  for (const line of told) lines.delete(line);
  return [...wrong.map((line) => `the log: ${line}`), ...[...lines].map((l) => `the tables: ${l}`)];
}
