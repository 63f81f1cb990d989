import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { createDatabase } from '../../test/postgres-server.ts';
import { emptyDirectory, openStore } from '../../test/stores.ts';
import { listBackups } from './backup.ts';
import { examineStore } from './doctor.ts';
import { appendEvents } from './events.ts';
import { readSchemaFiles } from './schema-files.ts';
import { ensureLocalTenant } from './tenants.ts';

const newest = readSchemaFiles().migrations.at(-1)!.version;

test('a healthy store has a good finding for each check', async () => {
  const findings = await examineStore({ dataDirectory: await emptyDirectory() });
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual([
    'node',
    'data directory',
    'disk',
    'backups',
    'database',
    'schema',
    'tables',
  ]);
  expect(findings.at(-2)!.message).toBe(`version ${newest} of ${newest}`);
});

test("a stranger's database is left as it is, and named without the password", async () => {
  const url = new URL(await createDatabase(inject('postgresUrl'), 'somebody_elses'));
  url.password = 'geheim';
  const findings = await examineStore({ databaseUrl: url.href });
  expect(findings).toContainEqual({
    check: 'server',
    ok: true,
    message: `${url.host}/somebody_elses`,
    next: null,
  });
  expect(findings.at(-1)).toMatchObject({
    check: 'schema',
    ok: true,
    message: 'there is none yet',
    next: expect.stringContaining('the first command') as string,
  });
  expect(JSON.stringify(findings)).not.toContain('geheim');
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const { rows } = await client.query(`select 1 from pg_tables where schemaname = 'public'`);
  expect(rows).toEqual([]);
  await client.query('create table recipes_of_a_bakery ()');
  await client.end();
  expect((await examineStore({ databaseUrl: url.href })).at(-1)).toEqual({
    check: 'schema',
    ok: false,
    message: 'there is none, but 1 tables of something else',
    next: 'Name an empty database in DATABASE_URL.',
  });
});

test('a table with an unreadable page is named, and the others are read all the same', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory });
  const { tenantId } = await ensureLocalTenant(database);
  await database.asTenant(tenantId, (tx) => appendEvents(tx, [{ topic: 't', kind: 'thing-done' }]));
  const [file] = await database.transaction({ as: 'owner' }, (tx) =>
    tx.query<{ path: string }>(`select pg_relation_filepath('events') as path`),
  );
  await database.close();
  const page = openSync(join(dataDirectory, 'pgdata', file!.path), 'r+');
  writeSync(page, Buffer.alloc(4096, 0xab), 0, 4096, 0);
  closeSync(page);

  const findings = (await examineStore({ dataDirectory })).filter(({ ok }) => !ok);
  expect(findings.map(({ check }) => check)).toEqual(['tables', 'table events']);
  expect(findings[1]!.message).toContain('data_directory_damaged');
  expect(findings.map(({ next }) => next).join()).toContain('--restore');

  const damaged = await openStore({ dataDirectory }, { backupEveryMs: 3_600_000 });
  const read = damaged.asTenant(tenantId, (tx) => tx.query('select * from events'));
  await expect(read).rejects.toMatchObject({ code: 'data_directory_damaged' });
  await damaged.close();
  expect(listBackups(dataDirectory)).toEqual([]); // the damage must not push out a good one
});
