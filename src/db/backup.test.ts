import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountSmallDisk, testWithDisk } from '../../test/small-disk.ts';
import { emptyDirectory, openStore } from '../../test/stores.ts';
import { listBackups, readBackupFailure, worthKeeping } from './backup.ts';
import { examineStore } from './doctor.ts';
import type { EmbeddedDriver } from './embedded-driver.ts';
import { openDatabase } from './open.ts';

const openAndClose = async (dataDirectory: string, backupEveryMs: number): Promise<void> =>
  (await openDatabase({ dataDirectory }, { backupEveryMs })).close();

test('closing backs up when the last backup is old, and old ones go', async () => {
  const dataDirectory = await emptyDirectory();
  for (let round = 0; round < 4; round++) await openAndClose(dataDirectory, 1);
  expect(listBackups(dataDirectory).length).toBe(3); // the two newest, and the next to grow old
  const [newest] = listBackups(dataDirectory);
  await openAndClose(dataDirectory, 3_600_000);
  expect(listBackups(dataDirectory)[0]).toEqual(newest);
  expect(statSync(join(dataDirectory, 'backups')).mode & 0o777).toBe(0o700);
});

test('of hourly backups six stay at most, among them one of a day and one of a week', () => {
  const hour = 3_600_000;
  const start = Date.parse('2026-01-01T00:30:00Z');
  let kept: { path: string; createdAt: string; bytes: number }[] = [];
  for (let n = 0; n < 30 * 24; n++) {
    const createdAt = new Date(start + n * hour).toISOString();
    kept = [{ path: createdAt, createdAt, bytes: 1 }, ...kept];
    const worth = worthKeeping(kept);
    kept = kept.filter((backup) => worth.has(backup));
    const ages = kept.map((backup) => n - (Date.parse(backup.createdAt) - start) / hour);
    expect(ages.slice(0, 2)).toEqual([0, 1].slice(0, n + 1));
    expect(ages.length).toBeLessThanOrEqual(6);
    if (n >= 24) expect(ages.some((age) => age >= 24 && age <= 48)).toBe(true);
    if (n >= 168) expect(ages.some((age) => age >= 168 && age <= 336)).toBe(true);
  }
});

test('what lies among the backups and is none is neither listed nor removed', async () => {
  const dataDirectory = await emptyDirectory();
  const place = (name: string) => join(dataDirectory, 'backups', name);
  for (const name of ['mine', 'broken', '2026-01-01T00-00-00-000Z.partial']) {
    mkdirSync(place(name), { recursive: true });
  }
  writeFileSync(join(place('broken'), 'backup.json'), '{"createdAt":');
  for (let round = 0; round < 2; round++) await openAndClose(dataDirectory, 1);
  const backups = listBackups(dataDirectory).map(({ path }) => path.split('/').at(-1)!);
  const names = readdirSync(join(dataDirectory, 'backups'));
  expect(names.toSorted()).toEqual([...backups, 'broken', 'mine'].toSorted());
});

test('a backup that fails stops neither the work nor the closing, and doctor tells', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory }, { backupEveryMs: 100 });
  const inTheWay = join(dataDirectory, 'backups');
  writeFileSync(inTheWay, '');
  const failure = () => readBackupFailure(dataDirectory);
  await expect.poll(failure).toBeDefined();
  await database.asWorker((tx) => tx.query('select 1'));
  await database.close();
  const findings = await examineStore({ dataDirectory });
  expect(findings).toContainEqual({
    check: 'last backup',
    ok: false,
    message: expect.stringContaining('failed at'),
    next: expect.stringContaining('Mend the cause') as string,
  });
  rmSync(inTheWay);
  await openAndClose(dataDirectory, 1);
  expect(readBackupFailure(dataDirectory)).toBeUndefined();
});

test('two that ask for a backup at once get the same one', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory });
  const driver = database.driver as EmbeddedDriver;
  const [first, second] = await Promise.all([driver.backup(), driver.backup()]);
  await database.close();
  expect(first).toBe(second);
  expect(listBackups(dataDirectory).map(({ path }) => path)).toEqual([first]);
});

test('a store that could not be brought up to date is not backed up', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory });
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query("insert into schema_migrations (version, name, digest) values (9999, 'x', 'x')"),
  );
  await database.close();
  await expect(openAndClose(dataDirectory, 1)).rejects.toMatchObject({ code: 'schema_newer' });
  expect(listBackups(dataDirectory)).toEqual([]);
});

testWithDisk('a backup never takes the room that the work needs (needs mount)', async () => {
  const disk = await mountSmallDisk(230);
  const dataDirectory = await emptyDirectory(join(disk, 'data'));
  await openAndClose(dataDirectory, 1);
  expect(listBackups(dataDirectory).length).toBe(1);
  await openAndClose(dataDirectory, 1);
  expect(readBackupFailure(dataDirectory)?.message).toContain('too little room');
  expect(readdirSync(join(dataDirectory, 'backups')).length).toBe(1);
  expect(existsSync(join(dataDirectory, 'pgdata'))).toBe(true);
});
