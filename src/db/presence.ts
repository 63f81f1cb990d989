import pg from 'pg';
import { elapsedMs, sleep } from '../platform/clock.ts';
import type { Presence } from './driver.ts';

const RETRY_MS = 200;

/**
 * Holds the advisory lock of an id, and a shared one of its place, on a connection of its own. The
 * server releases them the moment the process is gone: its jobs are taken over within a second.
 */
export async function announcePresence(
  config: pg.ClientConfig,
  id: string,
  place: string,
): Promise<Presence> {
  let client: pg.Client | undefined;
  /** Before it has its locks: the server may still take its forerunner for connected. */
  let connecting: pg.Client | undefined;
  let since: number | undefined;
  let ended = false;
  let hasLeft = false;

  const connect = async (): Promise<void> => {
    const next = new pg.Client(config);
    next.on('error', () => {}); // 'end' follows
    connecting = next;
    try {
      await next.connect();
      await next.query('select pg_advisory_lock(hashtextextended($1, 0))', [id]);
      if (!hasLeft) {
        await next.query('select pg_advisory_lock_shared(hashtextextended($1, 0))', [place]);
      }
    } catch (error) {
      // It may hold one of the locks, for which the next one would wait.
      next.end().catch(() => {});
      throw error;
    }
    connecting = undefined;
    client = next;
    since = elapsedMs();
    next.on('end', () => {
      since = undefined;
      if (!ended) void reconnect();
    });
  };
  const reconnect = async (): Promise<void> => {
    while (!ended && since === undefined) {
      // The server is away: statements say so.
      await connect().catch(() => (ended ? undefined : sleep(RETRY_MS)));
    }
    if (ended) await client?.end();
  };

  await connect();
  return {
    heldForMs: () => (since === undefined ? 0 : elapsedMs() - since),
    leavePlace: async () => {
      hasLeft = true;
      await client
        ?.query('select pg_advisory_unlock_shared(hashtextextended($1, 0))', [place])
        .catch(() => {}); // the connection broke, and its locks are gone
    },
    end: async () => {
      ended = true;
      // The server learns of the closed connection a moment later, and a pooler may keep its own open.
      await client?.query('select pg_advisory_unlock_all()').catch(() => {});
      await Promise.all([client?.end(), connecting?.end()]);
    },
  };
}

/**
 * How many hold the shared lock of each place. pg_locks shows the two halves of a lock's number; a
 * lock of one number, not two, has objsubid 1.
 */
export const COUNT_PRESENT = `select p.at, count(l.pid)::int as count
  from unnest($1::text[]) with ordinality as p (place, at)
  left join pg_locks l on l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(p.place, 0)
  group by p.at order by p.at`;
