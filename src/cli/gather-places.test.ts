import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { startServer } from '../models/loopback.fixture.ts';
import { gatherPlaces } from './gather-places.ts';

/** Longer than a passage: what is added is the file, as it is without a search. */
const RYE = `# Rye\n\nRye bread needs acid.\n\n${'Nothing else is said here. '.repeat(30)}\n`;

let server: Awaited<ReturnType<typeof startServer>>;
let wiki: string;
let home: string;
let notes: string;

beforeAll(async () => {
  home = await temporaryFolder();
  notes = join(home, 'notes');
  await mkdir(join(home, 'dialectic'));
  await mkdir(notes);
  await writeFile(join(notes, 'rye.md'), RYE);
  await writeFile(join(notes, 'wheat.md'), '# Wheat\n\nIt rises quickly.\n');
  server = await startServer((request, response) => {
    const results = [{ url: `${wiki}/page`, title: 'Found', content: 'A page of the wiki.' }];
    const isSearch = request.url?.startsWith('/search');
    response.end(isSearch ? JSON.stringify({ results }) : 'A page of the wiki, whole.');
  });
  wiki = server.url.replace('127.0.0.1', 'localhost');
});
afterAll(() => server.stop());
afterEach(() => vi.unstubAllEnvs());

async function configure(text: string): Promise<void> {
  vi.stubEnv('XDG_CONFIG_HOME', home);
  await writeFile(join(home, 'dialectic/dialectic.config.yaml'), text);
}

test('a page of one’s own network is read where the configuration opens its host', async () => {
  await configure('{}');
  await expect(gatherPlaces([wiki])).rejects.toMatchObject({ code: 'source_address_refused' });
  await configure('sources: { allowPrivate: [localhost] }');
  expect(await gatherPlaces([wiki])).toMatchObject([{ excerpts: ['A page of the wiki, whole.'] }]);
});

test('a search takes of a folder what answers it', async () => {
  await configure('{}');
  const search = { queries: ['acid of rye bread'], most: 10 };
  const archived = { mediaType: 'text/markdown', base64: Buffer.from(RYE).toString('base64') };
  const rye = { title: 'Rye', excerpts: [RYE], archived };
  expect(await gatherPlaces([notes], search)).toEqual([rye]);
  await expect(gatherPlaces([], search)).rejects.toThrow('set sources.search');
  const unknown = { queries: ['quantum chromodynamics'], most: 10 };
  await expect(gatherPlaces([notes], unknown)).rejects.toThrow(`Nothing was found in ${notes}.`);
});

test('a search asks the service that the configuration names, and fetches what it finds', async () => {
  const opened = 'allowPrivate: [localhost]';
  await configure(`sources: { search: searxng, searchUrl: "${server.url}", ${opened} }`);
  const search = { queries: ['rye'], most: 10 };
  expect(await gatherPlaces([], search)).toMatchObject([
    { title: 'Found', url: `${wiki}/page`, excerpts: ['A page of the wiki, whole.'] },
  ]);
  await expect(gatherPlaces([notes], search)).rejects.toThrow('asks searxng');
  await configure('sources: { search: tavily }');
  vi.stubEnv('TAVILY_API_KEY', undefined);
  await expect(gatherPlaces([], search)).rejects.toMatchObject({ code: 'search_not_configured' });
});
