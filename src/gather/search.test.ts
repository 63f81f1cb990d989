import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longText } from '../../test/sources/long-texts.ts';
import { temporaryFolder } from '../../test/stores.ts';
import type { Embedder } from '../context/embedder.ts';
import { lexicalEmbedder } from '../context/lexical-embedder.ts';
import { startServer } from '../models/loopback.fixture.ts';
import { folderSearch } from './folder-search.ts';
import { gatherBySearch } from './gather-by-search.ts';
import { openSearch } from './open-search.ts';
import { readSourcesSettings } from './sources-settings.ts';
import { webSearch } from './web-search.ts';

type Asked = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

let answer: (response: ServerResponse) => void;
let asked: Asked[] = [];
let stop: () => Promise<void>;
let baseUrl: string;
beforeAll(async () => {
  const server = await startServer((request, response, body) => {
    asked.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body,
    });
    answer(response);
  });
  ({ stop, url: baseUrl } = server);
});
afterAll(() => stop());

const json = (value: unknown, status = 200) => {
  asked = [];
  answer = (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(value));
};

describe('a folder', () => {
  test('with long files is searched in the stretches that have the words of the query', async () => {
    const folder = await temporaryFolder();
    const sentence = 'Sourdough rises for eighteen hours in a cold room.';
    await writeFile(join(folder, 'annals.txt'), longText(2_000_000, 1, sentence));
    const embedded: string[] = [];
    const embedder: Embedder = {
      ...lexicalEmbedder,
      embed: (texts) => {
        embedded.push(...texts);
        return lexicalEmbedder.embed(texts);
      },
    };
    const provider = folderSearch(folder, { embedder });
    const [hit] = await provider.search('How long does sourdough rise?');
    expect(hit?.draft.excerpts.join()).toContain(sentence);
    expect(embedded.join('').length).toBeLessThan(230_000);
  });

  test('is searched by the words of its files; hits are files with passages word for word', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'notes'));
    const filler = 'The weather was fine and nothing happened at all that day. '.repeat(12);
    const sentence = 'Sourdough rises for eighteen hours in a cold room.';
    const bread = `# Bread\n\n${filler}\n\n${sentence}\n\n${filler}\n`;
    await writeFile(join(folder, 'bread.md'), bread);
    await writeFile(join(folder, 'notes', 'cake.md'), `# Cake\n\nA cake rises with yeast.\n`);
    await writeFile(join(folder, 'other.txt'), filler);
    const provider = folderSearch(folder);
    const hits = await provider.search('How long does sourdough rise?');
    expect(hits.map(({ draft }) => draft.title)).toEqual(['Bread', 'Cake']);
    const passages = hits[0]?.draft.excerpts ?? [];
    expect(passages.filter((passage) => passage.includes(sentence))).toHaveLength(1);
    expect(passages.filter((passage) => !bread.includes(passage))).toEqual([]);
    expect(await provider.search('sourdough', { most: 1 })).toHaveLength(1);
    expect(await provider.search('quantum chromodynamics')).toEqual([]);
  });

  test('without a text has no hits; one that is not there is named', async () => {
    const folder = await temporaryFolder();
    expect(await folderSearch(folder).search('bread')).toEqual([]);
    await expect(folderSearch(join(folder, 'gone')).search('bread')).rejects.toMatchObject({
      code: 'folder_unusable',
    });
  });
});

describe('the web', () => {
  test('is searched through SearXNG', async () => {
    json({
      query: 'rye bread',
      number_of_results: 0,
      results: [
        {
          url: 'https://example.org/rye',
          title: 'Rye &amp; wheat',
          content: 'Rye needs <strong>acid</strong>.',
          engine: 'duckduckgo',
          engines: ['duckduckgo'],
          score: 1,
          category: 'general',
          publishedDate: '2023-04-05T00:00:00',
          parsed_url: ['https', 'example.org', '/rye', '', '', ''],
        },
        { url: 'javascript:alert(1)', title: 'no', content: '' },
        { title: 'no address' },
        { url: 'https://example.org/bare', title: '', content: null, publishedDate: null },
      ],
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [['google', 'CAPTCHA']],
    });
    const hits = await webSearch({ provider: 'searxng', baseUrl: `${baseUrl}/` }).search(
      'rye bread',
    );
    expect(asked[0]?.url).toBe('/search?q=rye+bread&format=json');
    expect(hits.map(({ draft }) => draft)).toEqual([
      {
        title: 'Rye & wheat',
        url: 'https://example.org/rye',
        year: 2023,
        excerpts: ['Rye needs acid.'],
      },
      { title: 'https://example.org/bare', url: 'https://example.org/bare', excerpts: [] },
    ]);
  });

  test('is searched through Brave', async () => {
    json({
      type: 'search',
      query: { original: 'rye', more_results_available: true },
      web: {
        type: 'search',
        results: [
          {
            type: 'search_result',
            title: 'Rye',
            url: 'https://example.org/rye',
            description: 'About rye.',
            page_age: '2024-01-02T03:04:05',
            profile: { name: 'Example' },
            meta_url: { hostname: 'example.org' },
          },
        ],
      },
    });
    const hits = await webSearch({ provider: 'brave', baseUrl, apiKey: 'canary-key' }).search(
      'rye'.repeat(200),
      { most: 50 },
    );
    const { searchParams, pathname } = new URL(asked[0]?.url ?? '', baseUrl);
    expect([pathname, searchParams.get('count'), searchParams.get('q')?.length]).toEqual([
      '/web/search',
      '20',
      400,
    ]);
    expect(asked[0]?.headers['x-subscription-token']).toBe('canary-key');
    expect(hits).toEqual([
      {
        place: 'https://example.org/rye',
        draft: expect.objectContaining({ title: 'Rye', year: 2024, excerpts: ['About rye.'] }),
      },
    ]);
    json({ type: 'search', query: {} });
    expect(await webSearch({ provider: 'brave', baseUrl, apiKey: 'k' }).search('x')).toEqual([]);
  });

  test('is searched through Tavily', async () => {
    json({
      query: 'rye',
      follow_up_questions: null,
      answer: null,
      images: [],
      results: [
        {
          title: 'Rye',
          url: 'https://example.org/rye',
          content: 'About rye.',
          score: 0.98,
          raw_content: null,
        },
      ],
      response_time: 0.5,
    });
    const hits = await webSearch({ provider: 'tavily', baseUrl, apiKey: 'canary-key' }).search(
      'rye',
      {
        most: 3,
      },
    );
    expect(asked[0]).toMatchObject({ method: 'POST', url: '/search' });
    expect(asked[0]?.headers.authorization).toBe('Bearer canary-key');
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ query: 'rye', max_results: 3 });
    expect(hits[0]?.draft.excerpts).toEqual(['About rye.']);
  });

  test('gives a name to what a service refuses or fails in, and never a key', async () => {
    const search = webSearch({ provider: 'tavily', baseUrl, apiKey: 'canary-key' });
    const outcome = () =>
      search.search('x').then(
        () => expect.fail('it answered'),
        ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
      );
    json({ detail: { error: 'Unauthorized: canary-key' } }, 401);
    expect(await outcome()).toBe('search_refused: tavily answered the search with status 401.');
    json({}, 429);
    expect(await outcome()).toContain('search_unavailable');
    answer = (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    expect(await outcome()).toContain('search_refused');
    answer = (response) => void response.end('<html>canary-key</html>');
    expect(await outcome()).not.toContain('canary-key');
    json({}, 403);
    await expect(webSearch({ provider: 'searxng', baseUrl }).search('x')).rejects.toThrow('"json"');
    expect(() => webSearch({ provider: 'brave' })).toThrow('no key');
  });
});

describe('the settings', () => {
  const open = (sources: object, environment = {}) =>
    openSearch(readSourcesSettings({ sources }), '.', { environment }).name;

  test('choose what is searched; keys and addresses come from variables', () => {
    expect(open({})).toBe('folder');
    expect(open({ search: 'brave' }, { BRAVE_API_KEY: 'k' })).toBe('brave');
    expect(open({ search: 'tavily', searchKeyEnv: 'MINE' }, { MINE: 'k' })).toBe('tavily');
    expect(open({ search: 'searxng', searchUrl: 'http://127.0.0.1:8888' })).toBe('searxng');
    expect(() => open({ search: 'tavily' })).toThrow('set TAVILY_API_KEY');
    expect(() => open({ search: 'searxng' })).toThrow('set SEARXNG_BASE_URL');
    expect(() => open({ search: 'google' })).toThrow('not valid');
    expect(() => open({ allowPrivate: ['http://x/'] })).toThrow('a host, or a host and its port');
  });

  test('send no key of the user to an address that a folder gives', () => {
    const settings = readSourcesSettings({
      sources: { search: 'tavily', searchUrl: 'http://evil.example' },
    });
    const environment = { TAVILY_API_KEY: 'k', MINE: 'k' };
    const keys = new Map([['tavily', 'k']]);
    const access = { environment, keys, isFolders: true };
    expect(() => openSearch(settings, '.', access)).toThrow('sources.searchKeyEnv');
    expect(openSearch({ ...settings, searchKeyEnv: 'MINE' }, '.', access).name).toBe('tavily');
    const ownAddress = { ...environment, TAVILY_BASE_URL: 'http://127.0.0.1:1' };
    expect(openSearch(settings, '.', { ...access, environment: ownAddress }).name).toBe('tavily');
  });
});

test('what a search finds is gathered: pages whole, or degraded with the snippet', async () => {
  const page = `Rye is baked of rye. ${'It needs time. '.repeat(10)}`;
  const hits: Record<string, [path: string, snippet: string][]> = {
    one: [
      ['/rye', 'Rye is …'],
      ['/gone', 'It was here.'],
    ],
    two: [
      ['/rye?utm_source=search', 'baked of rye'],
      ['http://10.0.0.1/', 'inside'],
    ],
  };
  const site = baseUrl.replace('127.0.0.1', 'site.test');
  answer = (response) => {
    const { pathname, searchParams } = new URL(asked.at(-1)?.url ?? '', baseUrl);
    const found = hits[searchParams.get('q') ?? ''] ?? [];
    if (pathname !== '/search') {
      return void response.writeHead(pathname === '/rye' ? 200 : 404).end(page);
    }
    const results = found.map(([path, content]) => ({
      title: content,
      content,
      url: path.startsWith('/') ? site + path : path,
      publishedDate: '2020-01-01',
    }));
    response.end(JSON.stringify({ results }));
  };
  const provider = webSearch({ provider: 'searxng', baseUrl });
  const { sources, refused } = await gatherBySearch(provider, ['one', 'two'], {
    allowPrivate: ['site.test'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  expect(sources.map(({ draft }) => draft)).toEqual([
    { title: 'Rye is …', url: `${site}/rye`, year: 2020, excerpts: [page] },
    {
      title: 'It was here.',
      url: `${site}/gone`,
      year: 2020,
      excerpts: ['It was here.'],
      degraded: `${site}/gone answered with status 404.`,
    },
  ]);
  expect(refused.map(({ error }) => error.code)).toEqual(['source_address_refused']);
});
