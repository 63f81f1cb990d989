import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { Slices } from '../platform/clock.ts';
import { listMoved } from './changed-files.ts';
import { claimFolder, requireFolder, writeOwned } from './owned-folder.ts';

const FILES = new Map([
  ['project_readme.md', 'Ours.'],
  ['Pending/T-1.md', 'A work item.'],
]);
const occupied = { code: 'folder_occupied' };
const read = (...parts: string[]): Promise<string> => readFile(join(...parts), 'utf8');

test('an owner writes again what it wrote, and takes away what is gone', async () => {
  const out = join(await temporaryFolder(), 'deep', 'out');
  await requireFolder(out, null);
  await writeOwned(out, 'a', FILES);
  await writeOwned(out, 'a', new Map([['project_readme.md', 'New.']]));
  expect(await read(out, 'project_readme.md')).toBe('New.');
  expect(await readdir(join(out, 'Pending'))).toEqual([]);
  await writeOwned(out, 'a', FILES);
  expect((await readdir(out)).toSorted()).toEqual([
    '.dialectic-files.json',
    'Pending',
    'project_readme.md',
  ]);
});

test('what is still as it was written, or as a person has changed it, is not written again', async () => {
  const out = join(await temporaryFolder(), 'out');
  const files = new Map([
    ['same.md', 'Same.'],
    ['deep/changed.md', 'Ours.'],
    ['deep/gone.md', 'Ours.'],
    ['new.md', 'Old.'],
  ]);
  await writeOwned(out, 'a', files);
  const inode = async (name: string) => (await lstat(join(out, name))).ino;
  const before = await inode('same.md');
  await writeFile(join(out, 'deep/changed.md'), 'Mine.');
  await rm(join(out, 'deep/gone.md'));
  const next = new Map([...files, ['new.md', 'New.']]);
  expect(await writeOwned(out, 'a', next)).toEqual(['deep/changed.md']);
  expect(await inode('same.md')).toBe(before);
  expect(await read(out, 'deep/changed.md')).toBe('Mine.');
  expect(await read(out, 'deep/gone.md')).toBe('Ours.');
  expect(await read(out, 'new.md')).toBe('New.');
});

test.each(['in one process', 'in another'])(
  'a person’s version stays, and goes aside when there is a new one, %s',
  async (where) => {
    const out = await temporaryFolder();
    const write = async (text: string, more: [string, string][] = []) => {
      if (where === 'in another') vi.resetModules();
      const module = await import('./owned-folder.ts');
      return module.writeOwned(out, 'a', new Map([['deep/a.md', text], ['b.md', 'B.'], ...more]));
    };
    const item: [string, string] = ['Pending/T-1.md', 'A work item.'];
    await write('One.', [item]);
    await writeFile(join(out, 'deep/a.md'), 'Mine.');
    await writeFile(join(out, 'Pending/T-1.md'), 'A work item. Done by Anna.');
    expect(await write('One.', [item])).toEqual(['deep/a.md', 'Pending/T-1.md']);
    expect(await write('One.', [item])).toEqual(['deep/a.md', 'Pending/T-1.md']);
    expect(await read(out, 'deep/a.md')).toBe('Mine.');
    expect(await listMoved(out)).toEqual([]);

    expect(await write('Two.')).toEqual([]);
    expect(await read(out, 'deep/a.md')).toBe('Two.');
    expect(await read(out, 'edited/deep/a.md')).toBe('Mine.');
    expect(await readdir(join(out, 'Pending'))).toEqual([]);
    expect(await read(out, 'edited/Pending/T-1.md')).toBe('A work item. Done by Anna.');

    await writeFile(join(out, 'deep/a.md'), 'Mine again.');
    expect(await write('Three.')).toEqual([]);
    expect(await read(out, 'edited/deep/a-2.md')).toBe('Mine again.');
    expect((await listMoved(out)).toSorted()).toEqual([
      'edited/Pending/T-1.md',
      'edited/deep/a-2.md',
      'edited/deep/a.md',
    ]);
    // What a person wrote that the program writes as well is the program's again.
    await writeFile(join(out, 'deep/a.md'), 'Four.');
    expect(await write('Four.')).toEqual([]);
    expect(await write('Five.')).toEqual([]);
    expect(await read(out, 'deep/a.md')).toBe('Five.');
  },
);

test('what lies behind a link is not listed as a person’s version, and nothing goes there', async () => {
  const [out, outside] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(outside, 'secret.md'), 'Theirs.');
  await writeOwned(out, 'a', new Map([['a.md', 'One.']]));
  await symlink(outside, join(out, 'edited'));
  expect(await listMoved(out)).toEqual([]);
  await writeFile(join(out, 'a.md'), 'Mine.');
  const written = writeOwned(out, 'a', new Map([['a.md', 'Two.']]));
  await expect(written).rejects.toMatchObject(occupied);
  expect(await read(out, 'a.md')).toBe('Mine.');
  expect(await readdir(outside)).toEqual(['secret.md']);
});

test('a person’s version outlives a write that was broken off', async () => {
  const out = await temporaryFolder();
  const files = (text: string) =>
    new Map([
      ['a.md', text],
      ['b.md', text],
      ['c.md', text],
    ]);
  await writeOwned(out, 'a', files('One.'));
  await writeFile(join(out, 'c.md'), 'Mine.');
  const slices = new Slices();
  let rests = 0;
  slices.rest = async () => {
    if (++rests === 5) throw new Error('broken off'); // three places are looked at, one is written
  };
  await expect(writeOwned(out, 'a', files('Two.'), slices)).rejects.toThrow('broken off');
  expect([await read(out, 'a.md'), await read(out, 'b.md')]).toEqual(['Two.', 'One.']);
  await writeOwned(out, 'a', files('Two.'));
  expect(await read(out, 'c.md')).toBe('Two.');
  expect(await read(out, 'edited/c.md')).toBe('Mine.');
  expect(await listMoved(out)).toEqual(['edited/c.md']);
});

test('a folder of another owner, or of nobody, is refused and stays as it was', async () => {
  const folder = await temporaryFolder();
  const [theirs, nobodys] = [join(folder, 'theirs'), join(folder, 'nobodys')];
  await writeOwned(theirs, 'b', FILES);
  await mkdir(nobodys);
  await writeFile(join(nobodys, 'project_readme.md'), 'Mine.');
  await writeFile(join(nobodys, '.dialectic-files.json'), '["project_readme.md"]');
  for (const out of [theirs, nobodys]) {
    for (const owner of [null, 'a']) {
      await expect(requireFolder(out, owner)).rejects.toMatchObject(occupied);
    }
    await expect(claimFolder(out, 'a')).rejects.toMatchObject(occupied);
    await expect(writeOwned(out, 'a', new Map([['x.md', '']]))).rejects.toMatchObject(occupied);
  }
  expect(await read(nobodys, 'project_readme.md')).toBe('Mine.');
  expect(await readdir(theirs)).not.toContain('x.md');
});

test('files of others in an own folder are kept, also those in the way', async () => {
  const out = await temporaryFolder();
  await claimFolder(out, 'a');
  await writeFile(join(out, 'notes.md'), 'Mine.');
  await writeOwned(out, 'a', FILES);
  await writeFile(join(out, 'Pending/T-2.md'), 'Mine.');
  const more = new Map([...FILES, ['a.md', ''], ['Pending/T-2.md', 'Ours.']]);
  await expect(writeOwned(out, 'a', more)).rejects.toMatchObject({
    ...occupied,
    message: expect.stringContaining('T-2.md') as string,
  });
  expect(await read(out, 'Pending/T-2.md')).toBe('Mine.');
  expect(await read(out, 'notes.md')).toBe('Mine.');
  expect(await readdir(out)).not.toContain('a.md');
});

test('no link is followed: the folder, one on the way, a file, the list', async () => {
  const folder = await temporaryFolder();
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'T-1.md'), 'Mine.');
  await symlink(outside, join(folder, 'link'));
  await expect(requireFolder(join(folder, 'link'), null)).rejects.toMatchObject(occupied);
  const links: [string, string][] = [
    ['Pending', outside],
    ['project_readme.md', join(outside, 'T-1.md')],
    ['project_readme.md', join(outside, 'new.md')],
  ];
  for (const [index, [path, target]] of links.entries()) {
    const out = join(folder, `out-${index}`);
    await claimFolder(out, 'a');
    await symlink(target, join(out, path));
    await expect(writeOwned(out, 'a', FILES)).rejects.toMatchObject(occupied);
  }
  const listed = join(folder, 'listed');
  await mkdir(listed);
  await symlink(join(folder, 'out-0/.dialectic-files.json'), join(listed, '.dialectic-files.json'));
  await expect(claimFolder(listed, 'a')).rejects.toMatchObject({ code: 'file_not_text' });
  expect(await readdir(outside)).toEqual(['T-1.md']);
  expect(await read(outside, 'T-1.md')).toBe('Mine.');
});

test('an export that was killed in the midst is the owner’s own the next time', async () => {
  const out = await temporaryFolder();
  await mkdir(join(out, 'Pending/T-1.md'), { recursive: true }); // stops the writing there
  await writeFile(
    join(out, '.dialectic-files.json'),
    JSON.stringify({ owner: 'a', files: ['project_readme.md'] }),
  );
  await writeFile(join(out, 'project_readme.md'), 'Half of an export.');
  await writeFile(join(out, '.dialectic-0198c0de'), 'hal');
  await expect(writeOwned(out, 'a', FILES)).rejects.toMatchObject(occupied);
  const whole = new Map([['project_readme.md', 'Ours.']]);
  await writeOwned(out, 'a', whole);
  expect(await read(out, 'project_readme.md')).toBe('Ours.');
});
