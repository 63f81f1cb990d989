import pg from 'pg';
import { elapsedMs, sleep } from '../platform/clock.ts';
import type { Presence } from './driver.ts';

const RETRY_MS = 200;

/**
 * Holds the advisory lock of an id on a connection of its own. The server releases it the moment
 * the process is gone, which is how its jobs are taken over within a second.
 */
export async function announcePresence(config: pg.ClientConfig, id: string): Promise<Presence> {
  let client: pg.Client | undefined;
  let since: number | undefined;
  let ended = false;

  const connect = async (): Promise<void> => {
    const next = new pg.Client(config);
    next.on('error', () => {}); // 'end' follows
    await next.connect();
    await next.query('select pg_advisory_lock(hashtextextended($1, 0))', [id]);
    client = next;
    since = elapsedMs();
    next.on('end', () => {
      since = undefined;
      if (!ended) void reconnect();
    });
  };
  const reconnect = async (): Promise<void> => {
    while (!ended && since === undefined) {
      await connect().catch(() => sleep(RETRY_MS)); // the server is away: statements say so
    }
    if (ended) await client?.end();
  };

  await connect();
  return {
    heldForMs: () => (since === undefined ? 0 : elapsedMs() - since),
    end: async () => {
      ended = true;
      await client?.end();
    },
  };
}
