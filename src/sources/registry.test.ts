import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { cutEverywhere } from '../../test/sources/cut-everywhere.ts';
import { SourceRegistry } from './registry.ts';
import { SourceLog } from './source-log.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-sources-'));
  folders.push(folder);
  return folder;
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const bread = { title: 'Bread', url: 'https://example.org/bread', excerpts: ['Sour dough rises.'] };
const TEXT =
  'A bakery of three people sells most of its bread before nine in the morning on weekdays';

describe('a registry of sources', () => {
  test('gives ids in the order of admission, also to those who ask at once', async () => {
    const registry = await SourceRegistry.open(newFolder());
    const titles = Array.from({ length: 50 }, (_, n) => `Title ${n}`);
    const ids = await Promise.all(
      titles.map((title) => registry.register({ title, excerpts: [`${title}.`] })),
    );
    expect(ids.map(({ id }) => id)).toEqual(titles.map((_, n) => `S${n + 1}`));
    expect([...registry].map(({ title }) => title)).toEqual(titles);
    await registry.close();
  });

  test('knows a source again, keeps every excerpt and replaces nothing by less', async () => {
    const folder = newFolder();
    const registry = await SourceRegistry.open(folder);
    await registry.register({ ...bread, author: 'A. Baker' });
    const again = {
      ...bread,
      url: 'http://www.example.org/bread/?utm_source=x#top',
      title: 'bread',
    };
    const known = await registry.register({ ...again, year: 2024, excerpts: ['It needs a day.'] });
    expect(known).toEqual({ id: 'S1', isNew: false, near: [] });
    const expected = {
      ...bread,
      id: 'S1',
      key: 'url:example.org/bread',
      author: 'A. Baker',
      year: 2024,
      excerpts: ['Sour dough rises.', 'It needs a day.'],
    };
    expect(registry.get('S1')).toEqual(expected);
    const size = readFileSync(join(folder, 'sources.log')).length;
    await registry.register(again);
    // The title differs, but a title was known: nothing is new.
    expect(readFileSync(join(folder, 'sources.log'))).toHaveLength(size);
    await registry.close();
    const reopened = await SourceRegistry.open(folder);
    expect(reopened.get('S1')).toEqual(expected);
    expect(reopened.findByKey('url:example.org/bread')).toBe('S1');
    expect(reopened.get('S2')).toBeUndefined();
    await reopened.close();
  });

  test('names near duplicates; a merge can be undone, and citations follow it', async () => {
    const registry = await SourceRegistry.open(newFolder());
    await registry.register({ title: 'One', excerpts: [TEXT] });
    const { id, near } = await registry.register({ title: 'Two', excerpts: [`${TEXT} too`] });
    expect([id, near[0]?.id]).toEqual(['S2', 'S1']);
    await registry.cite('S2', { kind: 'section', place: 'plan#1' });
    await registry.merge('S2', 'S1');
    expect(registry.get('S2')?.aliasOf).toBe('S1');
    expect(registry.get('S1')?.excerpts).toEqual([TEXT, `${TEXT} too`]);
    expect(registry.citationsOf('S1')).toEqual([{ kind: 'section', place: 'plan#1' }]);
    await expect(registry.merge('S1', 'S2')).rejects.toThrow('one source already');
    await registry.split('S2');
    expect(registry.get('S2')?.aliasOf).toBeUndefined();
    expect(registry.get('S1')?.excerpts).toEqual([TEXT]);
    await expect(registry.cite('S9', { kind: 'finding', place: 'F1' })).rejects.toThrow('S1 to S2');
    await registry.close();
  });

  test('merges by itself from the likeness that is set', async () => {
    const registry = await SourceRegistry.open(newFolder(), { mergeAt: 0.8 });
    await registry.register({ title: 'One', excerpts: [TEXT] });
    const { id, isNew } = await registry.register({ title: 'Two', excerpts: [`${TEXT} too`] });
    expect([id, isNew, registry.size]).toEqual(['S1', true, 2]);
    await registry.close();
  });
});

describe('the log of a registry', () => {
  test('cut at any byte keeps every whole record with its id, and goes on', () =>
    cutEverywhere(newFolder(), ['One', '']));

  test('of an earlier edition, without signatures, is read and finds what is near', async () => {
    const folder = newFolder();
    const log = new SourceLog(folder);
    log.stage(JSON.stringify({ key: 'k', source: { title: 'One', excerpts: [TEXT] } }));
    await log.flush();
    log.close();
    for (const near of ['min-hash', 'lsh-forest', 'min-hash'] as const) {
      const registry = await SourceRegistry.open(folder, { near });
      expect(registry.findNear(`${TEXT} too`)[0]?.id).toBe('S1');
      await registry.register({ title: near, excerpts: [`${near} is another text`] });
      expect(registry.findNear('min-hash is another text')[0]?.id).toBe('S2');
      await registry.close();
    }
  });

  test('is no file of the user, nor a link or a pipe to one, and none is changed', async () => {
    const user = join(newFolder(), 'notes.txt');
    const stand: ((path: string) => void)[] = [
      (path) => writeFileSync(path, TEXT),
      (path) => symlinkSync(user, path),
      (path) => void execFileSync('mkfifo', [path]),
    ];
    writeFileSync(user, TEXT);
    for (const name of ['sources.log', 'lock']) {
      for (const put of stand) {
        const folder = newFolder();
        put(join(folder, name));
        const code = name === 'lock' ? 'data_directory_unusable' : 'sources_damaged';
        await expect(SourceRegistry.open(folder)).rejects.toMatchObject({ code });
      }
    }
    expect(readFileSync(user, 'utf8')).toBe(TEXT);
  });

  test('with a damaged record before whole ones is refused, not shortened', async () => {
    const folder = newFolder();
    const registry = await SourceRegistry.open(folder);
    for (const title of ['One', 'Two', 'Three']) await registry.register({ title, excerpts: [] });
    await registry.close();
    const path = join(folder, 'sources.log');
    const bytes = readFileSync(path);
    bytes[20]! ^= 1;
    writeFileSync(path, bytes);
    const copy = newFolder();
    cpSync(path, join(copy, 'sources.log'));
    await expect(SourceRegistry.open(folder)).rejects.toMatchObject({ code: 'sources_damaged' });
    expect(readFileSync(path)).toEqual(readFileSync(join(copy, 'sources.log')));
  });

  test('holds what was registered, whatever its texts and its order', async () => {
    const draft = fc.record({
      title: fc.string(),
      url: fc.constantFrom('https://a.org/x', 'https://a.org/y', 'https://b.org/X'),
      excerpts: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(draft, { maxLength: 12 }), async (drafts) => {
        const folder = newFolder();
        const registry = await SourceRegistry.open(folder);
        await Promise.all(drafts.map((one) => registry.register(one)));
        const before = [...registry];
        await registry.close();
        const reopened = await SourceRegistry.open(folder);
        expect([...reopened]).toEqual(before);
        const urls = [...new Set(drafts.map(({ url }) => url))];
        expect(before.map(({ url }) => url)).toEqual(urls);
        const excerpts = new Set(drafts.flatMap((one) => one.excerpts));
        expect(new Set(before.flatMap((one) => one.excerpts))).toEqual(excerpts);
        await reopened.close();
      }),
      { numRuns: 20 },
    );
  });
});
