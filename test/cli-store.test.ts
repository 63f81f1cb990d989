import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { hasDatabase } from '../src/db/data-directory.ts';
import { lockDirectory } from '../src/db/directory-lock.ts';
import { runDialectic } from './run-dialectic.ts';
import { emptyDirectory, temporaryFolder } from './stores.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
});

/** A run whose model is refused before any store is needed. */
const runRefused = (data: string) =>
  runDialectic(['run', 'brief.md', '-m', 'nobody/at-all', '--data', data], { cwd: folder });

test('what is refused while the store opens leaves it closed', async () => {
  const data = join(folder, 'existing');
  await emptyDirectory(data);
  expect(hasDatabase(data)).toBe(true);
  const { code, stderr } = await runRefused(data);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('nobody') });
  const lock = await lockDirectory(data);
  lock.release();
});

test('what is refused makes no store', async () => {
  const { code } = await runRefused(join(folder, 'unused'));
  expect(code).toBe(2);
  expect(existsSync(join(folder, 'unused'))).toBe(false);
});

test('a store that cannot be opened is told of, but not before what is wrong with the run', async () => {
  const data = join(folder, 'held');
  await emptyDirectory(data);
  await writeFile(join(data, 'pgdata', 'PG_VERSION'), '12');
  const refused = await runRefused(data);
  expect(refused.stderr).toContain('nobody');
  const run = ['run', 'brief.md', '-m', 'offline/builder', '--yes', '--data', data];
  const { code, stderr } = await runDialectic(run, { cwd: folder });
  expect(code).not.toBe(0);
  expect(stderr).toContain('PostgreSQL 12');
});
