import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dialecticOnServer } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

test('every verb that changes a session ends with its folder and the next command', async () => {
  const home = await temporaryFolder();
  const onServer = await dialecticOnServer({ cwd: home });
  await writeFile(join(home, 'sundays.md'), 'Should the library open on Sundays?');
  const dialectic = async (...words: string[]): Promise<string> => {
    const ended = await onServer(...words);
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stdout;
  };
  const readme = (): Promise<string> =>
    readFile(join(home, 'sundays-plan', 'project_readme.md'), 'utf8');
  const ending = (next: string): RegExp =>
    new RegExp(`\nOpen \\./sundays-plan/project_readme\\.md\n${next}: dialectic \\w+ \\S+\n$`);

  const memo = ['-p', 'decision-memo', '-m', 'offline/builder', '--until', 'clarify'];
  expect(await dialectic('run', 'sundays.md', ...memo)).toMatch(ending('Go on with'));
  expect(await readme()).toContain('stopped after clarify');
  expect(await dialectic('feedback', 'clarify', 'Shorter.')).toMatch(ending('Go on with'));
  expect(await dialectic('resume')).toMatch(ending('Make another pass with'));
  expect(await readme()).toContain('completed');
  expect(await dialectic('choose', '1')).toMatch(ending('Make another pass with'));
  expect(await readme()).toContain('by a person');
  expect(await dialectic('export')).toContain('written to ./sundays-plan\n');
}, 60_000);
