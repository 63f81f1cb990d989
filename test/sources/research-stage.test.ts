import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { withModels } from '../../src/cli/store.ts';
import { type Dialectic, examineStore, insertStageFiles, openDialectic } from '../../src/index.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { readFolder } from '../recipes/read-folder.ts';
import { runDialectic } from '../run-dialectic.ts';
import { afterTheFile, emptyDatabase, temporaryFolder } from '../stores.ts';

const recipes = fileURLToPath(new URL('../../recipes', import.meta.url));
const SOURCES = [
  {
    title: 'Opening hours of libraries',
    excerpts: [
      '# Sundays\n\nIn Riga the library counted 412 visitors on an average Sunday.\n\n' +
        '# Staff\n\nEach opening day needs two people at the desk.\n',
    ],
  },
  { title: 'Costs', excerpts: ['A Sunday costs 310 euros for two staff at the desk.\n'] },
];

let dialectic: Dialectic;
let databaseUrl: string;
let process: string;
beforeAll(async () => {
  databaseUrl = await emptyDatabase();
  dialectic = await openDialectic({ databaseUrl, environment: {} });
  afterTheFile(() => dialectic.close());
  process = join(await temporaryFolder(), 'memo');
  const shipped = (name: string) => readFolder(join(recipes, name));
  const { files } = insertStageFiles(shipped('decision-memo'), shipped('research'), {
    before: 'propose',
  });
  for (const [path, text] of files) {
    await mkdir(dirname(join(process, path)), { recursive: true });
    await writeFile(join(process, path), text);
  }
});

const TWO = ['offline/builder', 'offline/skeptic'];

let lastSession = '';

/** Runs the research of offline participants, and gives its files by name. */
async function research(
  name: string,
  sources: typeof SOURCES,
  { store = dialectic, folder = 'research/documents/', models = TWO.slice(1) } = {},
): Promise<Map<string, string>> {
  const out = join(await temporaryFolder(), 'out');
  const { session } = await store.start({
    brief: 'Should the library open on Sundays? It has two staff at the desk and 400 visitors.',
    name,
    process,
    until: 'research',
    models,
    sources,
  });
  for await (const event of store.work(session, { out })) void event;
  lastSession = session;
  const paths = await readdir(out, { recursive: true });
  const texts = paths
    .filter((path) => path.includes(folder) && path.endsWith('.md'))
    .map(async (path) => [path, await readFile(join(out, path), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

const bodyOf = (text: string): string => text.replace(/^---\n.*?\n---\n/s, '');

test('research searches the sources, and its findings quote them word for word', async () => {
  const files = await research('Sundays', SOURCES, { models: TWO });
  const found = [...files].filter(([path]) => path.includes('sources_found'));
  expect(found.length).toBeGreaterThan(1);
  const [one, other] = found.map(([, text]) => bodyOf(text));
  // Code has searched: no model was asked.
  for (const [, text] of found) expect(text).toContain('\ncost: $0.0000\n');
  // Both participants read the same, whoever searched first.
  expect(one).toBe(other);
  expect(one).toMatch(/A Sunday costs 310 euros for two staff at the desk\. \[\^\d\]/);
  const findings = [...files].find(([path]) => path.includes('findings'))?.[1] ?? '';
  expect(findings).toMatch(/^> .*\n> — \[\^[12]\]$/m);
  const notes = new Map(
    [...findings.matchAll(/^\[\^(\d)\]: (.*)$/gm)].map(([, number, title]) => [number, title]),
  );
  for (const [, excerpt = '', number] of findings.matchAll(/^> (.+)\n> — \[\^(\d)\]$/gm)) {
    const { excerpts = [] } = SOURCES.find(({ title }) => title === notes.get(number)) ?? {};
    expect(excerpts.join('\n')).toContain(excerpt);
  }
  expect([...files.keys()].join('\n')).toMatch(/clusters[^]*contradictions/);
});

test('without sources research says that it found nothing, and invents nothing', async () => {
  const files = await research('Nothing known', []);
  const texts = [...files.values()].join('\n');
  expect(texts).toContain('searched in 0 sources; 0 sources answered.');
  expect(texts).not.toMatch(/\[S\d/);
});

/** The configuration and the key of a user who searches with a service, in this process. */
async function storeSearch(settings: { search: string; searchUrl: string; host: string }) {
  const home = join(await temporaryFolder(), 'dialectic');
  await mkdir(home);
  const { search, searchUrl, host } = settings;
  const sources = { search, searchUrl, allowPrivate: [host] };
  await writeFile(join(home, 'dialectic.config.json'), JSON.stringify({ sources }));
  await writeFile(join(home, 'keys.json'), '{"tavily":"stored-key"}', { mode: 0o600 });
  vi.stubEnv('XDG_CONFIG_HOME', dirname(home));
  vi.stubEnv('DATABASE_URL', databaseUrl);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test('a replay asks no search service, whoever made the recording', async () => {
  let requests = 0;
  const server = await startServer((request, response) => {
    requests += 1;
    const found = { url: `${server.url}/survey.md`, title: 'A survey', content: 'On Sundays …' };
    const isSearch = request.url === '/search';
    response.setHeader('content-type', isSearch ? 'application/json' : 'text/markdown');
    response.end(isSearch ? JSON.stringify({ results: [found] }) : '# A survey\n\nOn Sundays.\n');
  });
  afterTheFile(() => server.stop());
  await storeSearch({ search: 'tavily', searchUrl: server.url, host: new URL(server.url).host });
  await withModels(undefined, async (store) => {
    await research('Recorded', [], { store });
    const recorded = join(await temporaryFolder(), 'recorded');
    await store.export(lastSession, recorded);
    const asked = requests;
    expect(asked).toBeGreaterThan(1);
    const { session } = await store.startReplay({ recorded });
    for await (const event of store.workOnReplay(session, { recorded })) void event;
    const { documents } = await store.result(session);
    expect(documents.map(({ key }) => key)).toContain('sources_found');
    expect(requests).toBe(asked);
  });
}, 60_000);

test('what a search service finds becomes a source, and is quoted under its id', async () => {
  const said = 'On Sundays 57 of 100 visitors of a library come with children.';
  const server = await startServer((request, response) => {
    if (request.url === '/search') {
      const found = { url: `${server.url}/survey.md`, title: 'A survey', content: 'On Sundays …' };
      response.setHeader('content-type', 'application/json');
      if (request.headers.authorization !== 'Bearer stored-key') response.statusCode = 401;
      return void response.end(JSON.stringify({ results: [found] }));
    }
    response.setHeader('content-type', 'text/markdown');
    response.end(`# A survey\n\n${said}\n`);
  });
  afterTheFile(() => server.stop());
  await storeSearch({ search: 'tavily', searchUrl: server.url, host: new URL(server.url).host });
  await withModels(undefined, async (store) => {
    const files = await research('Searched', [], { store });
    const { id } = await store.project('Searched');
    const found = await store.sources.list(id);
    expect(found).toMatchObject([{ id: 'S1', title: 'A survey', origin: 'research' }]);
    // The page itself is kept, and what fetching, searching and auditing took is told.
    expect(await store.sources.show(id, 'S1')).toMatchObject({
      copies: [{ mediaType: 'text/markdown', isKept: true }],
    });
    const { latencies, rates } = await store.metrics();
    for (const name of ['fetch', 'register', 'audit', 'search'] as const) {
      expect(latencies[name].count, name).toBeGreaterThan(0);
      expect(latencies[name].p95Ms, name).toBeGreaterThanOrEqual(latencies[name].p50Ms);
    }
    expect(rates.source_cache.hits).toBeGreaterThan(rates.source_cache.misses);
    expect(rates.embeddings.misses).toBeGreaterThan(0);
    const examined = await examineStore({ databaseUrl });
    expect(examined.find(({ check }) => check === 'sources')).toMatchObject({
      ok: true,
      message: expect.stringMatching(/^fetch .* ms, p95 .*; source cache \d+ % of \d+; /),
      details: { latencies: { fetch: { count: latencies.fetch.count } } },
    });
    const findings = [...files]
      .filter(([path]) => path.includes('findings'))
      .map(([, text]) => text);
    expect(findings.join()).toContain(said.slice(0, -1));
  });
});

/** A search service whose answers are counted, with what it answers to the nth; it bills nobody. */
async function startSearch(statusOf: (nth: number) => number = () => 200) {
  const searches: string[] = [];
  const server = await startServer((request, response, body) => {
    if (request.url === '/search') searches.push(body);
    response.statusCode = statusOf(searches.length);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ results: [] }));
  });
  afterTheFile(() => server.stop());
  await storeSearch({ search: 'tavily', searchUrl: server.url, host: new URL(server.url).host });
  return searches;
}

test('searches of the web are on the ledger of their session, at list price', async () => {
  const searches = await startSearch();
  await withModels(undefined, async (store) => {
    const brief = 'Should the library open on Sundays?';
    const run = { brief, process, until: 'research', models: TWO.slice(1) };
    const estimate = await store.estimate(run);
    expect(estimate.searches).toMatchObject({ service: 'tavily', count: { middle: 6, high: 60 } });
    await research('Paid', [], { store });
    const report = await store.costs(lastSession);
    expect(searches.length).toBeGreaterThan(0);
    expect(report.searches).toMatchObject({ calls: 1 });
    expect(report.searches.usd).toBeCloseTo(searches.length * 0.008, 9);
    expect(report.unknownPrices).toEqual([]);
    expect(report.total).toBeLessThanOrEqual(estimate.costUsd!.high);
    expect((await dialectic.estimate(run)).searches).toBeNull();
    expect((await store.result(lastSession)).usage.costUsd).toBeCloseTo(report.total, 9);
  });
}, 60_000);

test('a cap that does not cover searches pauses the run before the first of them', async () => {
  const searches = await startSearch();
  await withModels(undefined, async (store) => {
    await store.wallet.setBudget('0.01');
    onTestFinished(() => dialectic.wallet.setBudget(null).then(() => {}));
    await research('Capped', [], { store });
    expect(await store.result(lastSession)).toMatchObject({ gates: ['budget'] });
    expect(searches).toEqual([]);
  });
}, 60_000);

/** What searches with the service cost until now, with those of other tests. */
async function spent(): Promise<number> {
  const { accounts } = await dialectic.wallet.balance();
  const paid = accounts.filter(({ owner, currency }) => owner === 'tavily' && currency === 'USD');
  return paid.reduce((sum, { balance }) => sum + balance, 0);
}

test('searches that were answered are paid where a later one of the research fails', async () => {
  const before = await spent();
  const searches = await startSearch((nth) => (nth % 2 === 0 ? 500 : 200));
  await withModels(undefined, async (store) => {
    await research('Broken', [], { store });
    const report = await store.costs(lastSession);
    const answered = searches.length - Math.floor(searches.length / 2);
    expect(searches.length).toBeGreaterThanOrEqual(2);
    expect(report.searches.usd).toBeCloseTo(answered * 0.008, 9);
    expect(await spent()).toBe(before + answered * 8_000);
    const { accounts } = await store.wallet.balance();
    expect(accounts.filter(({ held }) => held !== 0)).toEqual([]);
  });
}, 60_000);

test('of searches by hand only those are given back that were not answered', async () => {
  const queries = ['rye', 'oats', 'wheat', 'millet'].flatMap((query) => ['--search', query]);
  const before = await spent();
  const searches = await startSearch((nth) => (nth === 3 ? 500 : 200));
  const add = ['sources', 'add', ...queries, '--project', 'Broken'];
  const { stderr } = await runDialectic(add, { env: { DATABASE_URL: databaseUrl } });
  expect(stderr).toContain('answered the search with status 500');
  expect(searches.length).toBe(3);
  expect(await spent()).toBe(before + 16_000);
}, 60_000);

test('a search by hand is paid by the wallet, and given back where it fails', async () => {
  const add = ['sources', 'add', '--search', 'rye', '--search', 'oats', '--project', 'Paid'];
  const before = await spent();
  expect(await startSearch()).toEqual([]);
  const found = await runDialectic(add, { env: { DATABASE_URL: databaseUrl } });
  expect(found.stderr).toContain('Nothing was found');
  expect(await spent()).toBe(before + 16_000);
  await startSearch(() => 401);
  const refused = await runDialectic(add, { env: { DATABASE_URL: databaseUrl } });
  expect(refused.stderr).toContain('answered the search with status 401');
  expect(await spent()).toBe(before + 16_000);
  await dialectic.wallet.setBudget('0.001');
  onTestFinished(() => dialectic.wallet.setBudget(null).then(() => {}));
  const searches = await startSearch();
  const capped = await runDialectic(add, { env: { DATABASE_URL: databaseUrl } });
  expect(capped.stderr).toContain('2 searches with tavily cost $0.016, which is not left.');
  expect(searches).toEqual([]);
}, 60_000);

test('of more sources than a prompt can show it shows those that it is about', async () => {
  const filler = 'The weather was fine and nothing happened at all in the harbour that day. ';
  const many = Array.from({ length: 30 }, (_, at) => ({
    title: `Chronicle ${at + 1}`,
    excerpts: [`Volume ${at + 1}. ${filler.repeat(40)}`],
  }));
  const sunday = { title: 'Sundays', excerpts: [`The library may open on Sundays. ${filler}`] };
  const prompts = await research('Many', [...many, sunday], { folder: '_work/prompts/' });
  const shown = [...prompts]
    .filter(([path]) => path.includes('2_research'))
    .map(([, text]) => text.match(/^<source id="S\d+">\n[^]*?\n<\/source>$/gm) ?? []);
  expect(shown.length).toBeGreaterThan(2);
  // All prompts of the stage show the same, so that providers can reuse what they share.
  expect(new Set(shown.map((texts) => texts.join())).size).toBe(1);
  expect(shown[0]!.join('').length).toBeLessThan(82_000);
  expect(shown[0]!.join('')).toContain(sunday.excerpts[0]!.trim());
  const [[, first = ''] = []] = prompts;
  expect(first.match(/^- \[S\d+\] .* · relevance \d\.\d\d$/gm)).toHaveLength(31);
  // What is told of a prompt before it is sent shows such a choice, too.
  const [plan] = await dialectic.context(lastSession, 'queries');
  const chronicles = plan!.parts.filter(({ label }) => /^S(?!31)\d+$/.test(label));
  const sizes = chronicles.map(({ tokens }) => tokens);
  expect(Math.min(...sizes)).toBeLessThan(Math.max(...sizes) / 2);
});
