import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, expect, test, vi } from 'vitest';
import { afterTheFile, temporaryFolder } from '../../test/stores.ts';
import { claimFolder } from '../documents/owned-folder.ts';
import type { Consent } from './confirm.ts';
import { choosePlanFolder, showPath } from './plan-folder.ts';

let home: string;
let told = '';
beforeAll(async () => {
  home = await temporaryFolder();
  const before = process.cwd();
  process.chdir(home);
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
  afterTheFile(() => {
    process.chdir(before);
    stderr.mockRestore();
  });
});

const choose = (name: string, out?: string, consent: Consent = null, owner: string | null = null) =>
  choosePlanFolder({ out, name, owner, consent });
const occupied = { code: 'folder_occupied' };

/** A person who types an answer. */
function typing(answer: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(`${answer}\n`);
  return { input, output };
}

test('the folder is called after the brief, whatever its name holds', async () => {
  for (const [name, folder] of [
    ['brief', 'brief-plan'],
    ['Übergabe der Bäckerei', 'Übergabe-der-Bäckerei-plan'],
    ['../../etc/passwd', 'etc-passwd-plan'],
    ['-o', 'o-plan'],
    ['...', 'brief-plan'],
    ['x'.repeat(300), `${'x'.repeat(60)}-plan`],
  ]) {
    expect(await choose(name!)).toBe(join(home, folder!));
    expect(existsSync(join(home, folder!))).toBe(false);
  }
  expect(await choose('brief', 'deep/er')).toBe(join(home, 'deep/er'));
  expect(existsSync(join(home, 'deep'))).toBe(false);
  expect(showPath(join(home, 'a/b'))).toBe('./a/b');
  expect(showPath('/elsewhere/a')).toBe('/elsewhere/a');
});

test('beside the folder of an earlier run the next number is taken', async () => {
  await claimFolder('twice-plan', 'project 1');
  await claimFolder('twice-plan-2', 'project 2');
  expect(await choose('twice')).toBe(join(home, 'twice-plan-3'));
  expect(told).toContain(
    './twice-plan was written for another project: this run goes to ./twice-plan-3',
  );
  expect(await choose('twice', undefined, null, 'project 1')).toBe(join(home, 'twice-plan'));
  await expect(choose('twice', 'twice-plan')).rejects.toMatchObject(occupied);
});

test('a folder with files of others is refused, or asked about', async () => {
  await mkdir('mine-plan');
  await writeFile('mine-plan/project_readme.md', 'Mine.');
  const question = './mine-plan holds project_readme.md. Write to ./mine-plan-2 instead?';
  const other = join(home, 'mine-plan-2');
  await expect(choose('mine')).rejects.toMatchObject(occupied);
  await expect(choose('mine', undefined, typing('no'))).rejects.toMatchObject(occupied);
  const person = typing('y');
  expect(await choose('mine', undefined, person)).toBe(other);
  expect(String(person.output.read())).toContain(question);
  expect(await choose('x', 'mine-plan', 'given')).toBe(other);
  expect(await readdir('mine-plan')).toEqual(['project_readme.md']);
});
