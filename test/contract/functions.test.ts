import { randomBytes } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { hasNewerFunctions, migrate } from '../../src/db/migrate.ts';
import { readSchemaFiles, type SchemaFiles } from '../../src/db/schema-files.ts';
import { createDatabase } from '../postgres-server.ts';
import { roleSuffix } from '../store-roles.ts';
import { describeOnBoth, openStore, openTestStore } from '../stores.ts';
import { dumpSchema } from './dump-schema.ts';
import { earlierMigrations, makeEarlierSchema } from './earlier-schema.ts';

const files = readSchemaFiles();
const functionNames = files.functions.map(({ name }) => name);

/** The files with one more that says something else each time. */
const withFunction = (sql: string): SchemaFiles => ({
  ...files,
  functions: [...files.functions, { name: 'zz-test.sql', sql }],
});
const answering = (answer: number): SchemaFiles =>
  withFunction(`create or replace function test_answer() returns int language sql
    return ${answer}; grant execute on function test_answer() to dialectic_worker`);

/** Who owns each function, as whom it runs, with which settings, and who may call it. */
const readRights = async (database: Database) => {
  const suffix = await roleSuffix(database);
  return database.transaction({ as: 'owner' }, (tx) =>
    tx.query(
      `select p.oid::regprocedure::text as function, p.prosecdef as definer,
         p.proconfig as settings, replace(p.proowner::regrole::text, $1, '') as owner,
         replace(p.proacl::text, $1, '') as callers
       from pg_proc p where p.pronamespace = 'public'::regnamespace
         and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       order by 1`,
      [suffix],
    ),
  );
};

describeOnBoth('functions and triggers', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });
  const ask = () =>
    database.asWorker((tx) => tx.query<{ answer: number }>('select test_answer() as answer'));

  test('that changed are applied again, once, with the schema as it was', async () => {
    const before = await dumpSchema(database);
    expect(await migrate(database, answering(1))).toEqual([...functionNames, 'zz-test.sql']);
    expect(await migrate(database, answering(1))).toEqual([]);
    expect(await ask()).toEqual([{ answer: 1 }]);
    expect(await migrate(database, answering(2))).not.toEqual([]);
    expect(await ask()).toEqual([{ answer: 2 }]);
    expect(await migrate(database, withFunction('drop function test_answer()'))).not.toEqual([]);
    expect(await dumpSchema(database)).toBe(before);
  });

  test('of a newer build stay, whatever an older one with the same migrations brings', async () => {
    const newer = { ...answering(2), edition: files.edition + 1 };
    await migrate(database, answering(1));
    expect(await migrate(database, newer)).not.toEqual([]);
    expect(await migrate(database, answering(1))).toEqual([]);
    expect(await ask()).toEqual([{ answer: 2 }]);
    expect(await hasNewerFunctions(database)).toBe(true);
    const back = { ...withFunction('drop function test_answer()'), edition: files.edition + 1 };
    await migrate(database, back);
    await database.transaction({ as: 'owner' }, (tx) =>
      tx.query('update schema_migrations set edition = 0 where version = 0'),
    );
    expect(await migrate(database)).toEqual(functionNames);
    expect(await hasNewerFunctions(database)).toBe(false);
  });

  test('keep their owner, their callers and their settings when they are applied again', async () => {
    const before = await readRights(database);
    expect(before).toContainEqual({
      function: 'post_calls(uuid,uuid[],text[],bigint[],bigint[],boolean[],jsonb[])',
      owner: 'dialectic_ledger',
      definer: true,
      settings: [
        'search_path=public, pg_temp',
        'enable_seqscan=off',
        'plan_cache_mode=force_generic_plan',
      ],
      callers: '{dialectic_ledger=X/dialectic_ledger,dialectic_app=X/dialectic_ledger}',
    });
    expect(await migrate(database, withFunction('select 1'))).not.toEqual([]);
    expect(await readRights(database)).toEqual(before);
  });

  test('of a file that fails leave the earlier ones in place', async () => {
    await migrate(database, answering(1));
    const broken = withFunction(
      'create or replace function test_answer() returns int language sql return 3; select nowhere()',
    );
    await expect(migrate(database, broken)).rejects.toMatchObject({
      code: 'migration_failed',
      details: { migration: 'zz-test.sql' },
    });
    expect(await ask()).toEqual([{ answer: 1 }]);
    await migrate(database, withFunction('drop function test_answer()'));
  });
});

test('a store of version 16, whose migrations held the functions, gets the schema of today', async () => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const databaseUrl = await createDatabase(inject('postgresUrl'), name);
  const old = await openStore({ databaseUrl }, { migrate: false });
  await makeEarlierSchema(old, 16);
  const later = files.migrations.filter(({ version }) => version > 16);
  expect(await migrate(old)).toEqual([...later.map(({ name }) => name), ...functionNames]);
  const fresh = await openTestStore('server');
  expect(await dumpSchema(old)).toBe(await dumpSchema(fresh));
  expect(await readRights(old)).toEqual(await readRights(fresh));
});

test('migrations change tables, and functions stand in files of their own', () => {
  // What tables are defined with must be there before them.
  const forTables = ['current_tenant', 'app_now', 'isolate_table', 'open_table'];
  const forLedgerTables = ['ledger_owner', 'open_to_ledger'];
  const created = ({ sql }: { sql: string }): string[] =>
    [...sql.matchAll(/^create (?:or replace )?(?:function|procedure|trigger|view) (\w+)/gm)].map(
      (match) => match[1]!,
    );
  const withRoles = ['isolate_table', 'open_table', 'ledger_owner', 'open_to_ledger'];
  expect(files.migrations.flatMap(created)).toEqual([
    ...forTables,
    ...forLedgerTables,
    ...withRoles, // again, since they name roles
  ]);
  expect(files.functions.flatMap(created).length).toBeGreaterThan(70);
  expect(earlierMigrations.flatMap(created).length).toBeGreaterThan(100);
});
