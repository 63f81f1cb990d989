import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { demoCommand } from '../../src/cli/demo.ts';
import { evalCommand } from '../../src/cli/eval.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { openCommand } from '../../src/cli/open.ts';
import { recipeCommand } from '../../src/cli/recipe.ts';
import { runCommand } from '../../src/cli/run.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';

let folder: string;
let brief: string;

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.stubEnv('DIALECTIC_BASE_URL', 'http://127.0.0.1:9/v1');
  folder = await temporaryFolder();
  vi.stubEnv('DATABASE_URL', await emptyDatabase());
  brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays?');
});

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const call = (command: Command, ...words: string[]): Promise<unknown> =>
  command.exitOverride().parseAsync(words, { from: 'user' });
const run = (out: string, ...more: string[]): Promise<unknown> => {
  const how = ['-p', 'decision-memo', '-m', 'offline/builder', '--until', 'clarify'];
  return call(runCommand(), brief, ...how, '-o', out, ...more);
};
const occupied = { code: 'folder_occupied' };

/** A folder of somebody with the files that an export would write. */
async function somebodysFolder(name: string): Promise<string> {
  const out = join(folder, name);
  await mkdir(out);
  await writeFile(join(out, 'project_readme.md'), 'Mine.');
  await symlink(brief, join(out, 'table.md'));
  return out;
}

test('every command that writes a folder refuses one that holds files of others', async () => {
  const out = await somebodysFolder('mine');
  const judged = ['--judge', 'compatible/judge', '--single-folder', out, '--debate-folder', out];
  await expect(run(out)).rejects.toMatchObject(occupied);
  await expect(run(folder)).rejects.toMatchObject(occupied);
  await expect(call(demoCommand(), '-o', out)).rejects.toMatchObject(occupied);
  await expect(call(evalCommand(), brief, ...judged, '-o', out)).rejects.toMatchObject(occupied);
  const fork = ['fork', 'decision-memo', '--stage', 'clarify', '--out', out];
  await expect(call(recipeCommand(), ...fork)).rejects.toMatchObject(occupied);
  expect(await readdir(out)).toEqual(['project_readme.md', 'table.md']);
  expect(await readFile(join(out, 'project_readme.md'), 'utf8')).toBe('Mine.');
  expect(await readFile(brief, 'utf8')).toContain('library');
});

test('a session is exported again over its own folder, and over no other', async () => {
  const out = join(folder, 'out');
  await run(out, '--project', 'sundays');
  const exportTo = (where: string): Promise<unknown> => call(exportCommand(), '-o', where);
  await exportTo(out);
  await expect(run(out)).rejects.toMatchObject(occupied);
  await run(out, '--project', 'sundays');
  await expect(exportTo(await somebodysFolder('other'))).rejects.toMatchObject(occupied);
  expect(await readdir(join(folder, 'other'))).toEqual(['project_readme.md', 'table.md']);
}, 60_000);

test('what export and open advise for a folder without its mark brings the run back', async () => {
  const out = join(folder, 'unmarked');
  await run(out, '--project', 'unmarked');
  await rm(join(out, '.dialectic-files.json'));
  const opening = (): Promise<unknown> => call(openCommand(), '--with', 'true');
  const messageOf = (refused: Promise<unknown>): Promise<string> =>
    refused.then(
      () => '',
      (thrown: Error) => thrown.message,
    );
  const exported = await messageOf(call(exportCommand()));
  expect(await messageOf(opening())).toBe(exported);
  expect(exported).toContain('has no .dialectic-files.json of this project');
  const [, session = '', option = ''] = /: dialectic export (\S+) (-o) DIR/.exec(exported) ?? [];
  const anew = join(folder, 'anew');
  await call(exportCommand(), session, option, anew);
  expect(await readdir(anew)).toContain('project_readme.md');
  // The session has the new folder from now on.
  await opening();
  await call(exportCommand());
}, 60_000);
