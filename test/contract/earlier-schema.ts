import type { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/schema-files.ts';

/** The migrations as they were up to version 16, when they held functions and triggers, too. */
export const earlierMigrations = readMigrations(new URL('./migrations-0016/', import.meta.url));

/** Makes the schema that an earlier version of the program made in an empty store. */
export async function makeEarlierSchema(database: Database, version: number): Promise<void> {
  const migrations = earlierMigrations.filter((migration) => migration.version <= version);
  await migrate(database, { migrations, functions: [], edition: 0 });
  await database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('delete from schema_migrations where version = 0');
    await tx.query('alter table schema_migrations drop column edition');
  });
}
