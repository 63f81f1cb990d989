import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, expect, test } from 'vitest';
import { carryOut } from '../src/cli/run.ts';
import { hasDatabase } from '../src/db/data-directory.ts';
import { lockDirectory } from '../src/db/directory-lock.ts';
import { openDialectic } from '../src/index.ts';
import { elapsedMs } from '../src/platform/clock.ts';
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

test('what is refused does not wait for a process that holds the store', async () => {
  const dataDirectory = join(folder, 'read');
  await emptyDirectory(dataDirectory);
  const options = { environment: {}, backupEveryMs: 0, callsModels: false };
  await using _ = await openDialectic({ ...options, dataDirectory });
  const startedMs = elapsedMs();
  expect((await runRefused(dataDirectory)).stderr).toContain('nobody');
  // So long a run that is not refused waits for a holder that calls no models.
  expect(elapsedMs() - startedMs).toBeLessThan(10_000);
});

test('a person is asked about the folder before the store is opened', async () => {
  const data = join(folder, 'asking');
  await emptyDirectory(data);
  const out = join(folder, 'mine');
  await mkdir(out);
  await writeFile(join(out, 'notes.md'), 'Mine.');
  const [input, output] = [new PassThrough(), new PassThrough()];
  const run = { brief: 'Bake.', models: ['offline/builder'], process: 'decision-memo' };
  const running = carryOut(run, { out, data, concurrency: '4' }, { input, output });
  running.catch(() => {});
  let asked = '';
  output.on('data', (text: Buffer) => (asked += text.toString()));
  await expect.poll(() => asked).toContain('instead?');
  const lock = await lockDirectory(data);
  lock.release();
  input.write('no\n');
  await expect(running).rejects.toMatchObject({ code: 'folder_occupied' });
});
