import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { readTextFolder, writeTextFile, writeTextFolder } from './folders.ts';

const limits = { maxFileBytes: 10, maxFolderBytes: 25, maxFiles: 3 };
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: { code: string; message: string }) => error.code,
  );

describe('reading a folder', () => {
  test('gives what was written, by path with forward slashes, in order', async () => {
    const folder = join(await temporaryFolder(), 'deep', 'recipe');
    const files = new Map([
      ['a.md', 'ä\r\n\u{1F600}'],
      ['b/c/d.md', ''],
      ['z.yaml', 'x: 1\n'],
    ]);
    await writeTextFolder(folder, new Map([...files].toReversed()));
    expect([...(await readTextFolder(folder))]).toEqual([...files]);
  });

  test('leaves out names with a leading dot and the byte order mark', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, '.git'));
    await writeFile(join(folder, '.git', 'index'), Buffer.from([0, 255]));
    await writeFile(join(folder, 'a.md'), '\uFEFFtext');
    expect([...(await readTextFolder(folder))]).toEqual([['a.md', 'text']]);
  });

  test.each([
    ['a byte that is not UTF-8', Buffer.from([0x61, 0xff])],
    ['a zero byte', Buffer.from('a\0b')],
  ])('refuses %s', async (_, bytes) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'picture.md'), bytes);
    await expect(readTextFolder(folder)).rejects.toMatchObject({
      code: 'file_not_text',
      message: expect.stringContaining('picture.md') as string,
    });
  });

  test('refuses links, which could lead out of the folder', async () => {
    const folder = await temporaryFolder();
    await symlink('/etc/hostname', join(folder, 'prompt.md'));
    expect(await refusal(readTextFolder(folder))).toBe('file_not_text');
  });

  test('refuses folders within folders beyond the limit, although they hold no file', async () => {
    const deep = await temporaryFolder();
    await mkdir(join(deep, 'a/b/c/d'), { recursive: true });
    expect(await refusal(readTextFolder(deep, limits))).toBe('file_too_large');
  });

  test('refuses a file, a folder or a number of files beyond the limit', async () => {
    const large = await temporaryFolder();
    await writeFile(join(large, 'a'), '12345678901');
    expect(await refusal(readTextFolder(large, limits))).toBe('file_too_large');
    const heavy = await temporaryFolder();
    for (const name of ['a', 'b', 'c']) await writeFile(join(heavy, name), '123456789');
    expect(await refusal(readTextFolder(heavy, limits))).toBe('file_too_large');
    const many = await temporaryFolder();
    for (const name of ['a', 'b', 'c', 'd']) await writeFile(join(many, name), '');
    expect(await refusal(readTextFolder(many, limits))).toBe('file_too_large');
  });

  test('needs few descriptors, however many files there are', async () => {
    const folder = await temporaryFolder();
    for (let n = 0; n < 600; n += 1) await writeFile(join(folder, `${n}.md`), `text ${n}`);
    const program = `
      import { readTextFolder } from ${JSON.stringify(new URL('folders.ts', import.meta.url))};
      const texts = [...(await readTextFolder(${JSON.stringify(folder)})).entries()];
      console.log(texts.length, texts.every(([path, text]) => path === text.slice(5) + '.md'));
    `;
    // A soft limit alone would be raised by Node.
    const limited = ['-c', 'ulimit -n 256 && exec "$0" --input-type=module --eval "$1"'];
    const said = execFileSync('sh', [...limited, process.execPath, program], { encoding: 'utf8' });
    expect(said).toBe('600 true\n');
  });

  test('says which folder is not there', async () => {
    const folder = join(await temporaryFolder(), 'gone');
    await expect(readTextFolder(folder)).rejects.toMatchObject({
      code: 'folder_unusable',
      message: `${folder} does not exist.`,
    });
  });
});

describe('writing a folder', () => {
  test('never writes over what is there', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'mine.md'), 'mine');
    expect(await refusal(writeTextFolder(folder, new Map([['mine.md', 'theirs']])))).toBe(
      'folder_occupied',
    );
    expect(await readFile(join(folder, 'mine.md'), 'utf8')).toBe('mine');
  });

  test.each(['../out.md', 'a/../../out.md', '/out.md', 'a//b.md', 'a\\..\\..\\b.md'])(
    'refuses the path %s before anything is written',
    async (path) => {
      const folder = await temporaryFolder();
      const files = new Map([
        ['a.md', ''],
        [path, ''],
      ]);
      expect(await refusal(writeTextFolder(folder, files))).toBe('path_invalid');
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('a file cannot stand where the folder should', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeTextFile(file, 'x');
    expect(await refusal(writeTextFolder(file, new Map()))).toBe('folder_unusable');
    expect(await refusal(writeTextFile(join(file, 'y'), ''))).toBe('folder_unusable');
  });
});
