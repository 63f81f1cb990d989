import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

const packageFile = new URL('../package.json', import.meta.url);

const dialectic = (...parameters: string[]) => runDialectic(parameters);

test('doctor on a file is an error and not a healthy store', async () => {
  const file = join(await temporaryFolder(), 'file');
  writeFileSync(file, '');
  const { code, stdout, stderr } = await dialectic('doctor', '--data', file, '--json');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'data_directory_unusable' } });
});

test('the help of doctor says which setting wins', async () => {
  const { stdout } = await dialectic('doctor', '--help');
  expect(stdout).toContain('DATABASE_URL overrides DIALECTIC_DATA');
});

test('the version is the one of the package', async () => {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  expect((await dialectic('--version')).stdout.trim()).toBe(version);
});
