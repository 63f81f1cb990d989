import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { packProgram } from './packed.ts';
import { temporaryFolder } from './stores.ts';

// The Node of the tests, which may be newer than the machine's own.
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
const run = (command: string, parameters: string[], cwd: string) =>
  promisify(execFile)(command, parameters, { cwd, env: { ...process.env, PATH } });
let folder: string;
let tarball: string;

// These fetch the packages from the registry, as a user's npm does.
beforeAll(async () => {
  folder = await temporaryFolder();
  tarball = (await packProgram()).tarball;
  await mkdir(join(folder, 'empty'));
});

test('npm install --global leaves a command that holds the demonstration', async () => {
  const prefix = join(folder, 'prefix');
  const cwd = join(folder, 'empty');
  await run('npm', ['install', '--global', '--prefix', prefix, '--no-audit', tarball], cwd);
  const out = join(folder, 'demo');
  const command = join(prefix, 'bin/dialectic');
  const { stdout, stderr } = await run(command, ['demo', '--pace', '0', '--out', out], cwd);
  expect(stdout).toContain('114 recorded answers');
  expect(stderr).not.toContain('Warning');
  expect(existsSync(join(out, 'project_readme.md'))).toBe(true);
  const { stdout: where } = await run('npm', ['prefix', '--global', '--prefix', prefix], cwd);
  expect(where.trim()).toBe(prefix);
  await run('npm', ['uninstall', '--global', '--prefix', prefix, 'dialectic'], cwd);
  expect(existsSync(command)).toBe(false);
});

test('npx runs the package without an installation', async () => {
  const cwd = join(folder, 'empty');
  const words = ['dialectic', 'recipe', 'list', '--json'];
  const { stdout } = await run('npx', ['--yes', `--package=${tarball}`, ...words], cwd);
  const names = JSON.parse(stdout).recipes.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['decision-memo', 'research', 'software-plan']);
});
