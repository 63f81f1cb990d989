import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { startServer } from '../models/loopback.fixture.ts';
import { checkProject, describeChecks, readDays } from './check-sources.ts';

let server: Awaited<ReturnType<typeof startServer>>;
let wiki: string;
beforeAll(async () => {
  const home = await temporaryFolder();
  await mkdir(join(home, 'dialectic'));
  const file = join(home, 'dialectic/dialectic.config.yaml');
  await writeFile(file, 'sources: { allowPrivate: [localhost] }');
  vi.stubEnv('XDG_CONFIG_HOME', home);
  server = await startServer(({ url }, response) => {
    if (url === '/gone') response.writeHead(410).end();
    else response.end('Flour costs 1.20 euros in the village shop.');
  });
  wiki = server.url.replace('127.0.0.1', 'localhost');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});
afterEach(() => vi.useRealTimers());

/** The sources of a project as the API gives them. */
function sourcesOf(all: readonly { id: string; url?: string; aliasOf?: string; text: string }[]) {
  const known = all.map(({ text, ...source }) => ({
    ...source,
    title: `Title of ${source.id}`,
    excerpts: [text],
    copies: [],
    admittedAt: '2026-01-02T00:00:00.000Z',
  }));
  const show = async (_: string, id: string) => {
    const found = known.find((one) => one.id === id);
    if (!found) throw new Error(`The project has no source ${id}.`);
    return found;
  };
  /** Stores a look as the project would, so that the next one finds it. */
  const recordChecks: Dialectic['sources']['recordChecks'] = async (_, checks) => {
    for (const { id, ...checked } of checks) {
      Object.assign(known.find((one) => one.id === id) ?? {}, { checked });
    }
  };
  const sources: unknown = { list: async () => known, show, recordChecks };
  return sources as Dialectic['sources'];
}

test('sources with an address are checked against what was read of them', async () => {
  const sources = sourcesOf([
    { id: 'S1', url: `${wiki}/flour`, text: 'Flour costs 1.20 euros' },
    { id: 'S2', url: `${wiki}/flour`, text: 'Flour costs 1.30 euros in the village shop.' },
    { id: 'S3', text: 'A file.' },
    { id: 'S4', url: `${wiki}/gone`, text: 'x' },
    { id: 'S5', url: `${wiki}/flour`, aliasOf: 'S1', text: 'x' },
    { id: 'S6', url: 'http://10.0.0.1/', text: 'x' },
  ]);
  const checks = await checkProject(sources, 'bakery', { wanted: [] });
  expect(describeChecks(checks)).toEqual([
    'S1  unchanged  Title of S1',
    'S2  changed, 40 % alike  Title of S2',
    `S4  gone (${wiki}/gone answered with status 410)  Title of S4`,
    'S6  unchecked (http://10.0.0.1/ has an address that is not on the public internet)  Title of S6',
  ]);
  expect(await checkProject(sources, 'bakery', { wanted: ['s3'] })).toMatchObject([
    { id: 'S3', state: 'unchecked', reason: 'It has no address.' },
  ]);
  await expect(checkProject(sources, 'bakery', { wanted: ['S9'] })).rejects.toThrow('no source S9');
});

test('by age only those are checked that were read so many days ago', async () => {
  const sources = sourcesOf([{ id: 'S1', url: `${wiki}/flour`, text: 'Flour costs 1.20 euros' }]);
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-31T00:00:00Z') });
  const check = (days: string) =>
    checkProject(sources, 'bakery', { wanted: [], ...readDays(days) });
  expect(describeChecks(await check('30'))).toEqual([
    'There is no source to check: none has an address, or none is due.',
  ]);
  expect(await check('29d')).toMatchObject([{ id: 'S1', state: 'unchanged' }]);
  // The look just now counts as well as the reading did.
  expect(await check('29d')).toEqual([]);
  vi.setSystemTime(new Date('2026-03-02T00:00:00Z'));
  expect(await check('30d')).toHaveLength(1);
  for (const text of ['soon', '-1', '30w', '']) {
    expect(() => readDays(text)).toThrow('--older-than takes a number of days, as in 30d.');
  }
});
