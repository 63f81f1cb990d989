import type { Database } from '../../src/db/database.ts';
import { digestOf, readMigrations, type SqlFile } from '../../src/db/schema-files.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';

/** The migrations as they were up to version 16, when they held functions and triggers, too. */
export const earlierMigrations = readMigrations(new URL('./migrations-0016/', import.meta.url));

/** Makes the schema that an earlier version of the program made in an empty store. */
export async function makeEarlierSchema(database: Database, version: number): Promise<void> {
  const migrations = earlierMigrations.filter((migration) => migration.version <= version);
  await database.transaction({ as: 'owner' }, (tx) => applyAsEarlier(tx, migrations));
}

/** Applies migrations as builds before version 41 did: roles have the names that the files say. */
export async function applyAsEarlier(
  tx: AnyTransaction,
  migrations: readonly (SqlFile & { readonly version: number })[],
): Promise<void> {
  await tx.query(`create table schema_migrations (
    version int primary key, name text not null, digest text not null,
    applied_at timestamptz not null default now())`);
  for (const { version, name, sql } of migrations) {
    await tx.query(sql);
    await tx.query('insert into schema_migrations (version, name, digest) values ($1, $2, $3)', [
      version,
      name,
      digestOf(sql),
    ]);
  }
}
