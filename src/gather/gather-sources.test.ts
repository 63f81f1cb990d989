import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFifo } from '../../test/make-fifo.ts';
import { temporaryFolder } from '../../test/stores.ts';
import { gatherSources } from './gather-sources.ts';
import type { Gathered } from './gathered-source.ts';

async function folderOf(files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const refusals = ({ refused }: Gathered, folder: string): string[] =>
  refused.map(({ place, error }) => `${place.slice(folder.length + 1)} ${error.code}`);

describe('gathering files', () => {
  test('takes the texts of a folder in the order of their names, with digest and bytes', async () => {
    const folder = await folderOf({
      'b.md': '# Bread  ##\n\nIt is baked.\n',
      'a/note.txt': 'Plain words.\n',
      'a/B.txt': 'Upper case comes first.\n',
      'c.csv': 'loaves,1200\n',
    });
    const { sources, refused } = await gatherSources([folder]);
    expect(refused).toEqual([]);
    expect(sources.map(({ place }) => place.slice(folder.length + 1))).toEqual([
      'a/B.txt',
      'a/note.txt',
      'b.md',
      'c.csv',
    ]);
    expect(sources.map(({ draft }) => draft.title)).toEqual(['B', 'note', 'Bread', 'c']);
    expect(sources[2]).toMatchObject({
      draft: { excerpts: ['# Bread  ##\n\nIt is baked.\n'] },
      archived: {
        mediaType: 'text/markdown',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        bytes: Buffer.from('# Bread  ##\n\nIt is baked.\n'),
      },
    });
  });

  test('keeps title, author and year of front matter', async () => {
    const folder = await folderOf({
      'one.md': '---\ntitle: Bread\nauthors: [Ada, {name: Bo}]\ndate: 2021-03-04\n---\n# Other\n',
      'rules.md': '---\nnot: [closed\n---\n## Second\n\n```\n# code\n```\n# First\n',
      'says-more.md': '---\ntitle: Rye\nloaves: 40\n---\nIt is dark.\n',
    });
    const { sources } = await gatherSources([folder]);
    expect(sources[0]?.draft).toMatchObject({ title: 'Bread', author: 'Ada, Bo', year: 2021 });
    expect(sources[0]?.draft.excerpts).toEqual(['# Other\n']);
    expect(sources[1]?.draft.title).toBe('First');
    expect(sources[2]?.draft.excerpts[0]).toContain('loaves: 40');
  });

  test('refuses by name what is no text, empty, too large or not there, and takes the rest', async () => {
    const folder = await folderOf({
      'binary.dat': Buffer.from([0x50, 0, 0x4b, 0xff]),
      'empty.md': ' \n',
      'large.txt': 'x'.repeat(201),
      'latin.txt': Buffer.from('caf\xe9', 'latin1'),
      'utf16.txt': Buffer.from('\ufeffwide words', 'utf16le'),
    });
    const gathered = await gatherSources([folder, join(folder, 'gone.md')], { maxBytes: 200 });
    expect(refusals(gathered, folder)).toEqual([
      'binary.dat file_not_text',
      'empty.md source_unreadable',
      'large.txt file_too_large',
      'latin.txt file_not_text',
      'gone.md folder_unusable',
    ]);
    expect(gathered.sources.map(({ draft }) => draft.excerpts[0])).toEqual(['wide words']);
  });

  test('follows no link out of a folder and reads no hidden file', async () => {
    const outside = await folderOf({ 'secret.txt': 'secret' });
    const folder = await folderOf({ 'own.txt': 'own', '.hidden.txt': 'no', '.git/HEAD': 'no' });
    await symlink(join(outside, 'secret.txt'), join(folder, 'file'));
    await symlink(outside, join(folder, 'folder'));
    await symlink('/nowhere', join(folder, 'nowhere'));
    await symlink(join(folder, 'own.txt'), join(folder, 'same'));
    const gathered = await gatherSources([folder]);
    expect(gathered.sources.map(({ draft }) => draft.excerpts[0])).toEqual(['own']);
    expect(refusals(gathered, folder)).toEqual([
      'file file_not_text',
      'folder file_not_text',
      'nowhere file_not_text',
    ]);
  });

  test('reads a file once that is named twice, and through a link that was named', async () => {
    const folder = await folderOf({ 'own.txt': 'own' });
    const link = join(await temporaryFolder(), 'link');
    await symlink(folder, link);
    const { sources } = await gatherSources([link, folder, join(folder, 'own.txt')]);
    expect(sources.map(({ place }) => place)).toEqual([join(link, 'own.txt')]);
  });

  test('reads a file to its end that claims to be empty, and refuses a pipe by name', async () => {
    const path = '/proc/self/limits';
    if (existsSync(path)) {
      const [source] = (await gatherSources([path])).sources;
      expect(source?.draft.excerpts[0]).toBe(readFileSync(path, 'utf8'));
    }
    const fifo = join(await temporaryFolder(), 'notes.md');
    makeFifo(fifo);
    const { refused } = await gatherSources([fifo]);
    expect(refused[0]?.error.message).toBe(`${fifo} is a device, a pipe or a socket.`);
  });

  test('counts characters, not bytes: Cyrillic text of 60 MB is taken', async () => {
    const text = 'Хлеб и соль. '.repeat(450_000);
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'];
    const folder = await folderOf(Object.fromEntries(names.map((name) => [name, text])));
    const { sources, refused } = await gatherSources([folder]);
    expect(refused).toEqual([]);
    const bytes = sources.reduce((sum, { archived }) => sum + (archived?.bytes.length ?? 0), 0);
    expect(bytes).toBeGreaterThan(55_000_000);
  }, 60_000);

  test('ends with an error where the texts have more characters than a project may have', async () => {
    const text = 'Bread and salt. '.repeat(600_000);
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt', 'f.txt'];
    const folder = await folderOf(Object.fromEntries(names.map((name) => [name, text])));
    await expect(gatherSources([folder])).rejects.toMatchObject({
      code: 'file_too_large',
      message: expect.stringMatching(
        /f\.txt the sources have 57,\d+,\d+ characters of text together; a project may have 50,000,000/,
      ) as string,
    });
  }, 60_000);

  test('ends with an error where the sources are too large together', async () => {
    const folder = await folderOf({ 'a.txt': 'x'.repeat(60), 'b.txt': 'y'.repeat(60) });
    await expect(gatherSources([folder], { maxTotalBytes: 100 })).rejects.toMatchObject({
      code: 'file_too_large',
      message: expect.stringContaining('b.txt the sources have more than 100 bytes') as string,
    });
  });
});
