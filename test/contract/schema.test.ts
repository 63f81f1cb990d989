import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { dumpSchema } from './dump-schema.ts';

/** The columns that src/db/schema.ts declares, read from its text: types are gone at run time. */
function declaredColumns(): Record<string, string[]> {
  const text = readFileSync(new URL('../../src/db/schema.ts', import.meta.url), 'utf8');
  const body = text.slice(text.indexOf('export type Schema = {'));
  const tables = body.matchAll(/^ {2}(\w+): \{([^}]*)\}/gm);
  return Object.fromEntries(
    [...tables].map(([, table, columns]) => [
      table!,
      [...columns!.matchAll(/(?:^|;|\n)\s*(\w+):/g)].map((match) => match[1]!).toSorted(),
    ]),
  );
}

describeOnBoth('the schema', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('is the committed one', async () => {
    await expect(await dumpSchema(database)).toMatchFileSnapshot('./schema.sql');
  });

  test('has the tables and columns that the typed queries declare', async () => {
    const rows = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ table_name: string; columns: string[] }>(
        `select table_name::text, array_agg(column_name::text order by column_name) as columns
         from information_schema.columns
         where table_schema = 'public' and table_name <> 'schema_migrations' group by 1`,
      ),
    );
    const stored = Object.fromEntries(rows.map((row) => [row.table_name, row.columns.toSorted()]));
    expect(declaredColumns()).toEqual(stored);
  });
});
