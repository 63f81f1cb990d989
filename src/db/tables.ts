import pg from 'pg';
import type { Database } from './database.ts';

/** The tables of the program, by name. */
export async function listTables(database: Database): Promise<string[]> {
  const rows = await database.transaction({ as: 'owner' }, (tx) =>
    tx.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    ),
  );
  return rows.map(({ name }) => name);
}

/** Reads every row once: a page that cannot be read shows here and not in the middle of a run. */
export async function readTable(database: Database, name: string): Promise<void> {
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query(`select count(t::text) from ${pg.escapeIdentifier(name)} t`),
  );
}
