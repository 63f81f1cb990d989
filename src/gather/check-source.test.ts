import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../models/loopback.fixture.ts';
import { checkSource, checkSources, isCheckDue } from './check-source.ts';
import type { FetchOptions } from './fetch-page.ts';
import { gatherSources } from './gather-sources.ts';

const BREAD = `Bread is baked of flour, water and salt. ${'It rises for a night. '.repeat(20)}`;
const page = (text: string, banner: string): string =>
  `<html><head><title>Bread</title></head><body><article><p>${text}</p></article>
<footer>${banner}</footer></body></html>`;

let pages: Record<string, { status: number; body?: string; location?: string }> = {};
let stop: () => Promise<void>;
let site: string;
let options: FetchOptions & { now: () => Date };
const at = new Date('2026-03-04T05:06:07Z');

beforeAll(async () => {
  const server = await startServer((request, response) => {
    const { status, body = '', location } = pages[request.url ?? ''] ?? { status: 404 };
    const type = { 'content-type': 'text/html' };
    response.writeHead(status, location === undefined ? type : { location });
    response.end(request.method === 'HEAD' ? '' : body);
  });
  stop = server.stop;
  site = server.url.replace('127.0.0.1', 'site.test');
  options = {
    allowPrivate: ['site.test'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    now: () => at,
  };
});
afterAll(() => stop());

test('a source is unchanged while it says what was read of it, whatever stands around that', async () => {
  pages = { '/bread': { status: 200, body: page(BREAD, 'Visitor 1') } };
  const [source] = (await gatherSources([`${site}/bread`], options)).sources;
  const known = { ...source!.draft, sha256: source!.archived!.sha256 };
  expect(await checkSource(known, options)).toEqual({ state: 'unchanged', likeness: 1, at });
  pages['/bread'] = { status: 200, body: page(BREAD, 'Visitor 2') };
  const passage = { url: known.url!, excerpts: ['flour,  water\nand salt'] };
  expect(await checkSources([known, passage], options)).toEqual([
    { state: 'unchanged', likeness: 1, at },
    { state: 'unchanged', likeness: 1, at },
  ]);
});

test('a source that changed, moved, is gone or cannot be asked is told apart', async () => {
  pages = {
    '/changed': { status: 200, body: page(BREAD.replace('salt', 'sugar'), '') },
    '/old': { status: 301, location: '/new' },
    '/new': { status: 200, body: page(BREAD, '') },
    '/elsewhere': { status: 302, location: '/new' },
    '/down': { status: 503 },
  };
  const known = (path: string) => ({ url: site + path, excerpts: [BREAD] });
  const checks = await checkSources(
    [...['/changed', '/old', '/elsewhere', '/gone', '/down'].map(known), { excerpts: ['x'] }],
    options,
  );
  expect(checks.map(({ state }) => state)).toEqual([
    'changed',
    'moved',
    'unchanged',
    'gone',
    'unchecked',
    'unchecked',
  ]);
  const [changed, moved, , gone, down] = checks;
  expect(changed?.likeness).toBeGreaterThan(0.3);
  expect(changed?.likeness).toBeLessThan(1);
  expect(changed?.found?.draft.excerpts[0]).toContain('sugar');
  expect(moved).toMatchObject({ url: `${site}/new`, likeness: 1 });
  expect(gone?.reason).toContain('status 404');
  expect(down?.reason).toContain('status 503');
});

test('a source is due when its last check is as old as the days that were given', () => {
  const checked = new Date('2026-03-01T00:00:00Z');
  expect(isCheckDue(checked, 30, new Date('2026-03-30T23:59:59Z'))).toBe(false);
  expect(isCheckDue(checked, 30, new Date('2026-03-31T00:00:00Z'))).toBe(true);
});
