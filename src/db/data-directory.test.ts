import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDirectory, openStore, temporaryFolder } from '../../test/stores.ts';
import { copyDatabase, findDamage } from './data-directory.ts';
import { examineStore } from './doctor.ts';
import type { EmbeddedDriver } from './embedded-driver.ts';
import { openDatabase } from './open.ts';

const DAMAGED = { code: 'data_directory_damaged' };

test('a new data directory is its owner’s alone', async () => {
  const dataDirectory = join(await temporaryFolder(), 'data');
  await (await openDatabase({ dataDirectory }, { backupEveryMs: 0 })).close();
  const mode = (path: string): number => statSync(path).mode & 0o777;
  expect(mode(dataDirectory)).toBe(0o700);
  expect(mode(join(dataDirectory, 'pgdata'))).toBe(0o700);
  expect(readdirSync(dataDirectory).toSorted()).toEqual(['holder.json', 'lock', 'pgdata']);
});

test('a database without PG_VERSION is damaged, and neither opening nor doctor changes it', async () => {
  const dataDirectory = await emptyDirectory();
  const pgdata = join(dataDirectory, 'pgdata');
  const files = readdirSync(join(pgdata, 'base'), { recursive: true });
  rmSync(join(pgdata, 'PG_VERSION'));
  await expect(openDatabase({ dataDirectory })).rejects.toMatchObject(DAMAGED);
  const findings = await examineStore({ dataDirectory });
  expect(findings.at(-1)).toMatchObject({ check: 'database', ok: false });
  expect(findings.at(-1)!.next).toContain('--restore');
  expect(existsSync(join(pgdata, 'PG_VERSION'))).toBe(false);
  expect(readdirSync(join(pgdata, 'base'), { recursive: true })).toEqual(files);
});

test.each(['backups/2026', 'pgdata.restoring', 'pgdata.replaced-2026'])(
  'a missing database beside %s is damage and not a new directory',
  async (trace) => {
    const dataDirectory = await temporaryFolder();
    mkdirSync(join(dataDirectory, trace), { recursive: true });
    await expect(openDatabase({ dataDirectory })).rejects.toMatchObject(DAMAGED);
    expect((await examineStore({ dataDirectory })).at(-1)).toMatchObject({ ok: false });
    expect(existsSync(join(dataDirectory, 'pgdata'))).toBe(false);
  },
);

test('a database whose making was cut short is made anew', async () => {
  const dataDirectory = await temporaryFolder();
  cpSync(join(await emptyDirectory(), 'pgdata'), join(dataDirectory, 'pgdata.new'), {
    recursive: true,
  });
  rmSync(join(dataDirectory, 'pgdata.new', 'PG_VERSION'));
  expect(findDamage(dataDirectory)).toBeUndefined();
  await (await openDatabase({ dataDirectory }, { backupEveryMs: 0 })).close();
  expect(existsSync(join(dataDirectory, 'pgdata.new'))).toBe(false);
});

test('a database that vanishes while it is open is not replaced by an empty one', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory });
  rmSync(join(dataDirectory, 'pgdata'), { recursive: true });
  await (database.driver as EmbeddedDriver).terminateThread();
  const use = database.asWorker((tx) => tx.query('select 1'));
  await expect(use).rejects.toMatchObject(DAMAGED);
  await database.close();
  expect(existsSync(join(dataDirectory, 'pgdata'))).toBe(false);
});

test('a file in the place of the directory is refused, also by doctor', async () => {
  const file = join(await temporaryFolder(), 'file');
  writeFileSync(file, '');
  const unusable = { code: 'data_directory_unusable' };
  for (const dataDirectory of [file, join(file, 'below')]) {
    await expect(openDatabase({ dataDirectory })).rejects.toMatchObject(unusable);
    await expect(examineStore({ dataDirectory })).rejects.toMatchObject(unusable);
  }
});

test('a copy holds every file of the database, and nobody else may enter it', async () => {
  const source = join(await emptyDirectory(), 'pgdata');
  const target = join(await temporaryFolder(), 'copy');
  await copyDatabase(source, target);
  const list = (folder: string) => readdirSync(folder, { encoding: 'utf8', recursive: true });
  expect(new Set(list(target))).toEqual(new Set(list(source)));
  for (const name of ['PG_VERSION', join('global', 'pg_control')]) {
    expect(readFileSync(join(target, name))).toEqual(readFileSync(join(source, name)));
  }
  expect(statSync(join(target, 'base')).mode & 0o777).toBe(0o700);
});
