import { expect, inject, test } from 'vitest';
import { migrate, readMigrations } from '../../src/db/migrate.ts';
import { locateStore, openDatabase } from '../../src/db/open.ts';
import { describeOnBoth, emptyStore, openTestStore } from '../stores.ts';

describeOnBoth('opening a store', (kind) => {
  test('a second time changes nothing', async () => {
    const location = await emptyStore(kind);
    await (await openDatabase(location, { backupEveryMs: 0 })).close();
    const database = await openDatabase(location, { backupEveryMs: 0 });
    expect(await migrate(database)).toBe(0);
    await database.close();
  });

  test('that a newer version wrote is refused', async () => {
    const location = await emptyStore(kind);
    const database = await openDatabase(location, { backupEveryMs: 0 });
    await database.transaction({ as: 'owner' }, (tx) =>
      tx.query("insert into schema_migrations (version, name, digest) values (9999, 'x', 'x')"),
    );
    await database.close();
    const opening = openDatabase(location, { backupEveryMs: 0 });
    await expect(opening).rejects.toMatchObject({
      code: 'schema_newer',
      details: { found: 9999, known: readMigrations().at(-1)!.version },
    });
  });

  test('whose migrations were edited is refused', async () => {
    const database = await openTestStore(kind);
    const [first, ...rest] = readMigrations();
    const edited = [{ ...first!, sql: `${first!.sql}\n-- edited` }, ...rest];
    await expect(migrate(database, edited)).rejects.toMatchObject({
      code: 'migration_changed',
      details: { migration: first!.name },
    });
  });

  test('keeps nothing of a migration that fails', async () => {
    const database = await openTestStore(kind);
    const broken = {
      version: 9000,
      name: '9000_broken.sql',
      sql: 'create table half (id int); select * from nowhere',
    };
    await expect(migrate(database, [...readMigrations(), broken])).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('nowhere'),
    });
    const [row] = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query(`select to_regclass('half') as half, max(version) < 9000 as old
                from schema_migrations`),
    );
    expect(row).toEqual({ half: null, old: true });
  });
});

test('two processes may migrate one empty server database at the same time', async () => {
  const location = await emptyStore('server');
  const opened = await Promise.all([1, 2, 3].map(() => openDatabase(location)));
  const [row] = await opened[0]!.transaction({ as: 'owner' }, (tx) =>
    tx.query('select count(*) as n from schema_migrations'),
  );
  expect(row).toEqual({ n: readMigrations().length });
  for (const database of opened) await database.close();
});

test.each([
  ['nobody listens', 'postgres://postgres@127.0.0.1:1/x', 'database_unreachable'],
  ['the host has no address', 'postgres://postgres@nowhere.invalid/x', 'database_unreachable'],
  ['the database does not exist', 'none', 'database_refused'],
  ['it is no address', 'mysql://127.0.0.1/x', 'usage_invalid'],
])('DATABASE_URL where %s is a coded error', async (_case, url, code) => {
  const databaseUrl = url === 'none' ? inject('postgresUrl').replace(/\w+$/, 'absent') : url;
  await expect(openDatabase({ databaseUrl })).rejects.toMatchObject({ code });
});

test('the command line comes before DATABASE_URL, and that before the default folder', () => {
  const environment = { DATABASE_URL: 'postgres://x', DIALECTIC_DATA: '/somewhere' };
  expect(locateStore(environment, 'here')).toEqual({ dataDirectory: 'here' });
  expect(locateStore(environment)).toEqual({ databaseUrl: 'postgres://x' });
  expect(locateStore({ DIALECTIC_DATA: '/somewhere' })).toEqual({ dataDirectory: '/somewhere' });
});
