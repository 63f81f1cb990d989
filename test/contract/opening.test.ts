import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { locateStore, openDatabase } from '../../src/db/open.ts';
import { writePreparation } from '../../src/db/prepare-database.ts';
import { readSchemaFiles } from '../../src/db/schema-files.ts';
import { startScript } from '../chaos/processes.ts';
import {
  describeOnBoth,
  emptyDatabase,
  emptyStore,
  newTenant,
  openTestStore,
  temporaryFolder,
} from '../stores.ts';

const files = readSchemaFiles();

describeOnBoth('opening a store', (kind) => {
  test('a second time changes nothing', async () => {
    const location = await emptyStore(kind);
    await (await openDatabase(location, { backupEveryMs: 0 })).close();
    const database = await openDatabase(location, { backupEveryMs: 0 });
    expect(await migrate(database)).toEqual([]);
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
      details: { found: 9999, known: files.migrations.at(-1)!.version },
    });
  });

  test('whose migrations were edited is refused', async () => {
    const database = await openTestStore(kind);
    const [first, ...rest] = files.migrations;
    const migrations = [{ ...first!, sql: `${first!.sql}\n-- edited` }, ...rest];
    await expect(migrate(database, { ...files, migrations })).rejects.toMatchObject({
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
    const migrations = [...files.migrations, broken];
    await expect(migrate(database, { ...files, migrations })).rejects.toMatchObject({
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
  expect(row).toEqual({ n: files.migrations.length + 1 });
  for (const database of opened) await database.close();
});

test.each([
  ['nobody listens', 'postgres://postgres@127.0.0.1:1/x', 'database_unreachable'],
  ['the host has no address', 'postgres://postgres@nowhere.invalid/x', 'database_unreachable'],
  ['the database does not exist', 'none', 'database_refused'],
  ['it is no address', 'mysql://127.0.0.1/x', 'usage_invalid'],
  ['the password has a bare #', 'postgres://me:p#ss@127.0.0.1/x', 'usage_invalid'],
  ['the password has digits before a #', 'postgres://me:1#ss@127.0.0.1/x', 'usage_invalid'],
  ['the port is none', 'postgres://me@127.0.0.1:99999/x', 'usage_invalid'],
  ['the server has no TLS', 'tls', 'database_refused'],
])('DATABASE_URL where %s is a coded error', async (_case, url, code) => {
  const known = inject('postgresUrl');
  const made: Record<string, string> = {
    none: known.replace(/\w+$/, 'absent'),
    tls: `${known}?sslmode=require`,
  };
  const opening = openDatabase({ databaseUrl: made[url] ?? url });
  await expect(opening).rejects.toMatchObject({ code });
  await expect(opening).rejects.not.toThrow(/: $/); // it says why
  await expect(opening).rejects.not.toThrow('ss@');
});

test('a server that asks for a password where there is none refuses', async () => {
  const server = createServer((socket) => {
    const answer = (type: number, text: string): void => {
      const head = Buffer.alloc(9, 'R');
      head.writeInt32BE(8 + text.length, 1);
      head.writeInt32BE(type, 5);
      socket.write(Buffer.concat([head, Buffer.from(text)]));
    };
    socket.once('data', () => {
      answer(10, 'SCRAM-SHA-256\0\0');
      socket.once('data', () => answer(11, 'r=x,s=eA==,i=4096'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const opening = openDatabase({ databaseUrl: `postgres://me@127.0.0.1:${port}/x` });
  await expect(opening).rejects.toMatchObject({ code: 'database_refused' });
});

describe('an account of a server', () => {
  const admin = new pg.Pool({ connectionString: inject('postgresUrl'), max: 1 });
  afterAll(() => admin.end());
  const addressOf = async (account: string, options = ''): Promise<string> => {
    const name = `${account}_${randomBytes(4).toString('hex')}`;
    await admin.query(`create role ${name} login ${options}`);
    await admin.query(`create database ${name} owner ${name}`);
    const url = new URL(inject('postgresUrl'));
    return Object.assign(url, { username: name, pathname: `/${name}` }).href;
  };

  test('that may not make or take the roles is told what it needs', async () => {
    const databaseUrl = await addressOf('plain');
    const opening = openDatabase({ databaseUrl });
    await expect(opening).rejects.toMatchObject({ code: 'database_refused' });
    await expect(opening).rejects.toThrow('CREATEROLE');
  });

  test('that did not make the store is told whose it is', async () => {
    const databaseUrl = await addressOf('maker', 'createrole');
    await (await openDatabase({ databaseUrl })).close();
    const guest = new URL(await addressOf('guest'));
    const [owner, login] = [new URL(databaseUrl).username, guest.username];
    await admin.query(`grant connect on database ${owner} to ${login}`);
    const opening = openDatabase({
      databaseUrl: Object.assign(guest, { pathname: `/${owner}` }).href,
    });
    await expect(opening).rejects.toMatchObject({ code: 'database_refused' });
    await expect(opening).rejects.toThrow(`made by another login (${owner})`);
  });

  test('whose database an administrator prepared can set up and use the store', async () => {
    const databaseUrl = await addressOf('prepared');
    const prepared = new pg.Client(
      Object.assign(new URL(databaseUrl), { username: 'postgres' }).href,
    );
    await prepared.connect();
    await prepared.query(writePreparation({ databaseUrl }));
    await prepared.end();
    const database = await openDatabase({ databaseUrl });
    onTestFinished(() => database.close());
    const { tenantId } = await newTenant(database);
    const seen = await database.asTenant(tenantId, (tx) => tx.query('select 1 from users'));
    expect(seen.length).toBe(1);
  });
});

test('a pool whose connections are all in use is busy, not away', async () => {
  const database = await openTestStore('server', { connections: 1, connectTimeoutMs: 200 });
  const waiting = database.asWorker(async () => {
    const second = database.asWorker((tx) => tx.query('select 1'));
    await expect(second).rejects.toMatchObject({ code: 'database_busy', retryable: true });
  });
  await waiting;
});

test('a closed server store says so, to statements and to listeners', async () => {
  const database = await openDatabase(await emptyStore('server'));
  await Promise.all([database.close(), database.close()]);
  const closed = { code: 'storage_closed', retryable: false };
  await expect(database.asWorker((tx) => tx.query('select 1'))).rejects.toMatchObject(closed);
  await expect(database.driver.listen('x', () => {})).rejects.toMatchObject(closed);
});

test('a process that is killed while it makes a database leaves a directory that opens', async () => {
  for (const afterMs of [0, 20, 50, 700]) {
    const dataDirectory = join(await temporaryFolder(), 'data');
    const opener = startScript('writer.ts', dataDirectory, '0', '1');
    // Unpacked from an image, it may be whole before the next look.
    const making = () =>
      ['pgdata.new', 'pgdata'].some((name) => existsSync(join(dataDirectory, name)));
    await expect.poll(making, { timeout: 30_000, interval: 5 }).toBe(true);
    await sleep(afterMs);
    opener.child.kill('SIGKILL');
    await opener.ended;
    const started = performance.now();
    await (await openDatabase({ dataDirectory }, { backupEveryMs: 0 })).close();
    console.log(`killed after ${afterMs} ms, opened in ${Math.round(performance.now() - started)}`);
  }
}, 120_000);

test('the command line comes before DATABASE_URL, and that before the default folder', () => {
  const environment = { DATABASE_URL: 'postgres://x', DIALECTIC_DATA: '/somewhere' };
  expect(locateStore(environment, 'here')).toEqual({ dataDirectory: 'here' });
  expect(locateStore(environment)).toEqual({ databaseUrl: 'postgres://x' });
  expect(locateStore({ DIALECTIC_DATA: '/somewhere' })).toEqual({ dataDirectory: '/somewhere' });
  expect(locateStore({ DIALECTIC_DATA: '' })).toEqual(locateStore({}));
});

test('a store opens by the socket of a server, whose folder the query names', async () => {
  const url = new URL(await emptyDatabase());
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  const { rows } = await admin.query<{ folders: string }>(
    `select current_setting('unix_socket_directories') as folders`,
  );
  await admin.end();
  const folder = rows[0]!.folders.split(',')[0]!.trim();
  const { username, password, port, pathname } = url;
  const databaseUrl = `postgres://${username}:${password}@${pathname}?host=${folder}&port=${port}`;
  const database = await openDatabase({ databaseUrl });
  expect(await database.transaction({ as: 'owner' }, (tx) => tx.query('select 1 as one'))).toEqual([
    { one: 1 },
  ]);
  await database.close();
});
