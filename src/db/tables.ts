import pg from 'pg';
import type { Database } from './database.ts';

type Table = { name: string; is_own: boolean };

/** All tables in `public`, by name, and whether the login or a superuser made them. */
export const listAllTables = (database: Database): Promise<Table[]> =>
  database.transaction({ as: 'owner' }, (tx) =>
    tx.query<Table>(
      `select t.tablename as name, o.rolname = current_user or o.rolsuper as is_own
       from pg_tables t join pg_roles o on o.rolname = t.tableowner
       where t.schemaname = 'public' order by 1`,
    ),
  );

/** The tables of the program, by name. Reading one of another login could call functions of his. */
export async function listTables(database: Database): Promise<string[]> {
  const own = (await listAllTables(database)).filter(({ is_own: isOwn }) => isOwn);
  return own.map(({ name }) => name);
}

/** Reads every row once: a page that cannot be read shows here and not in the middle of a run. */
export async function readTable(database: Database, name: string): Promise<void> {
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query(`select count(t::text) from ${pg.escapeIdentifier(name)} t`),
  );
}
