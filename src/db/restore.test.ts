import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDirectory, openStore } from '../../test/stores.ts';
import { listBackups } from './backup.ts';
import type { Database } from './database.ts';
import type { EmbeddedDriver } from './embedded-driver.ts';
import { appendEvents, readEvents } from './events.ts';
import { restoreStore } from './restore.ts';
import { ensureLocalTenant, LOCAL_TENANT } from './tenants.ts';

const tenantId = LOCAL_TENANT;
const open = (dataDirectory: string) => openStore({ dataDirectory });
const append = (database: Database, kind: string) =>
  database.asTenant(tenantId, (tx) => appendEvents(tx, [{ topic: 't', kind }]));
const backUp = (database: Database) => (database.driver as EmbeddedDriver).backup();
const kinds = async (dataDirectory: string): Promise<string[]> => {
  const database = await open(dataDirectory);
  const events = await readEvents(database, { tenantId, after: null });
  await database.close();
  return events.map(({ kind }) => kind);
};

/** A store with the event `n` in its n-th backup, and one more event in no backup. */
async function storeWithBackups(backups: number): Promise<string> {
  const dataDirectory = await emptyDirectory();
  const database = await open(dataDirectory);
  await ensureLocalTenant(database);
  for (let n = 1; n <= backups; n++) {
    await append(database, String(n));
    await backUp(database);
  }
  await append(database, 'not in a backup');
  await database.close();
  return dataDirectory;
}

function damage(pgdata: string): void {
  const wal = join(pgdata, 'pg_wal');
  for (const name of readdirSync(wal).filter((name) => /^[0-9A-F]{24}$/.test(name))) {
    truncateSync(join(wal, name), 100);
  }
  writeFileSync(join(pgdata, 'global', 'pg_control'), Buffer.alloc(8192, 7));
}

test('a damaged database is named as such and the last backup brings it back', async () => {
  const dataDirectory = await storeWithBackups(1);
  damage(join(dataDirectory, 'pgdata'));
  await expect(open(dataDirectory)).rejects.toMatchObject({ code: 'data_directory_damaged' });
  const [newest] = listBackups(dataDirectory);
  const { backup, kept } = await restoreStore(dataDirectory);
  expect(backup).toEqual(newest);
  expect(existsSync(join(kept!, 'PG_VERSION'))).toBe(true);
  expect(await kinds(dataDirectory)).toEqual(['1']);
});

test('where the newest backup is damaged too, an older one is taken', async () => {
  const dataDirectory = await storeWithBackups(2);
  const [newest, older] = listBackups(dataDirectory);
  damage(join(newest!.path, 'pgdata'));
  rmSync(join(dataDirectory, 'pgdata'), { recursive: true });
  expect(await restoreStore(dataDirectory)).toEqual({ backup: older });
  expect(await kinds(dataDirectory)).toEqual(['1']);
});

test('without a backup the restoration says so and moves nothing', async () => {
  const dataDirectory = await emptyDirectory();
  const restoring = restoreStore(dataDirectory);
  await expect(restoring).rejects.toMatchObject({ code: 'backup_missing' });
  expect(existsSync(join(dataDirectory, 'pgdata', 'PG_VERSION'))).toBe(true);
});

test('where no backup can be used nothing is moved, and an older one does not replace it', async () => {
  const dataDirectory = await storeWithBackups(1);
  const database = await open(dataDirectory);
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query("insert into schema_migrations (version, name, digest) values (9999, 'x', 'x')"),
  );
  await backUp(database);
  await database.close();
  const before = readdirSync(dataDirectory).toSorted();
  await expect(restoreStore(dataDirectory)).rejects.toMatchObject({ code: 'schema_newer' });
  expect(readdirSync(dataDirectory).toSorted()).toEqual(before);
});

test('a store that is in use is not restored', async () => {
  const dataDirectory = await storeWithBackups(1);
  const database = await open(dataDirectory);
  const restoring = restoreStore(dataDirectory);
  await expect(restoring).rejects.toMatchObject({ code: 'data_directory_locked' });
  await append(database, 'still at work');
  await database.close();
});

test('a reader from before the restoration is told to start anew, and then misses nothing', async () => {
  const dataDirectory = await storeWithBackups(1);
  const before = await open(dataDirectory);
  const cursor = (await readEvents(before, { tenantId, after: null })).at(-1)!.cursor;
  expect(await readEvents(before, { tenantId, after: cursor })).toEqual([]);
  await before.close();
  const { kept } = await restoreStore(dataDirectory);
  expect(kept).toContain('replaced');
  const after = await open(dataDirectory);
  await append(after, 'new');
  const reading = readEvents(after, { tenantId, after: cursor });
  await expect(reading).rejects.toMatchObject({ code: 'cursor_invalid' });
  const events = await readEvents(after, { tenantId, after: null });
  expect(events.map(({ kind }) => kind)).toEqual(['1', 'new']);
  await after.close();
});
