import pg from 'pg';
import type { PostgresServer } from '../../test/postgres-server.ts';

/** Keeps the files that were used once, as those of a server that has been at work for a while. */
export const KEEPS_LOG_FILES = ['min_wal_size=1GB', 'max_wal_size=4GB'];
const FILES = 40;

/**
 * Gives a new cluster log files to use again. It has to make each of 16 MB the first time, which takes
 * 25 ms alone and up to half a second beside other writes, in whichever run it comes to be.
 */
export async function settleLog({ url }: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let file = 0; file < FILES; file++) {
      await client.query(`select pg_logical_emit_message(false, 'bench', '')`);
      await client.query('select pg_switch_wal()');
    }
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
