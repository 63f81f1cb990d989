import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer } from '../models/loopback.fixture.ts';
import { type FetchOptions, PageFetcher } from './fetch-page.ts';
import { gatherSources } from './gather-sources.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let answers: Record<string, Answer> = {};
let asked: string[] = [];
let stop: () => Promise<void>;
let site: string;
let options: FetchOptions;

beforeAll(async () => {
  const server = await startServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = answers[request.url ?? ''];
    if (answer) answer(request, response);
    else response.writeHead(404).end();
  });
  stop = server.stop;
  site = server.url.replace('127.0.0.1', 'site.test');
  // The guard stays on: this host alone is opened, by name.
  options = {
    allowPrivate: ['site.test'],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
});
afterAll(() => stop());
beforeEach(() => {
  answers = {};
  asked = [];
});

const send =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = ''): Answer =>
  (request, response) => {
    response.writeHead(status, headers).end(request.method === 'HEAD' ? '' : body);
  };
const to = (location: string, status = 302): Answer => send(status, { location });
const fetchPath = (path: string, more: FetchOptions = {}) =>
  new PageFetcher({ ...options, ...more }).fetch(site + path);

describe('fetching a page', () => {
  test('follows five redirects and no more, and tells where it was found', async () => {
    for (let hop = 0; hop < 6; hop++) answers[`/${hop}`] = to(`/${hop + 1}`, 301);
    answers['/6'] = send(200, { 'content-type': 'text/plain' }, 'found');
    expect(await fetchPath('/1')).toMatchObject({ url: `${site}/6`, isMoved: true });
    await expect(fetchPath('/0')).rejects.toMatchObject({
      code: 'source_unreachable',
      message: expect.stringContaining('more than 5 times'),
    });
    answers['/3'] = to('/4', 307);
    expect(await fetchPath('/1')).toMatchObject({ isMoved: false });
    expect(await fetchPath('/6')).toMatchObject({ isMoved: false, url: `${site}/6` });
  });

  test('asks with GET where the host refuses HEAD', async () => {
    for (const status of [403, 404, 405, 501]) {
      answers['/page'] = (request, response) =>
        request.method === 'HEAD' ? response.writeHead(status).end() : response.end('page');
      expect((await fetchPath('/page')).bytes.toString(), String(status)).toBe('page');
    }
    await expect(fetchPath('/gone')).rejects.toMatchObject({ code: 'source_gone' });
  });

  test('unpacks what is compressed, within the limit', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    answers['/zip'] = send(200, gzip, gzipSync('packed'));
    expect((await fetchPath('/zip')).bytes.toString()).toBe('packed');
    answers['/bomb'] = (request, response) => {
      response.writeHead(200, gzip);
      if (request.method === 'HEAD') return void response.end();
      // As much as is read: a reader without a limit would never come to its end.
      const packer = createGzip();
      packer.pipe(response);
      const zeros = Buffer.alloc(1_000_000);
      const write = (): void => {
        while (!response.destroyed && packer.write(zeros));
        if (!response.destroyed) packer.once('drain', write);
      };
      write();
    };
    await expect(fetchPath('/bomb')).rejects.toMatchObject({ code: 'file_too_large' });
    answers['/odd'] = send(200, { 'content-encoding': 'gzip, gzip' }, 'x');
    await expect(fetchPath('/odd')).rejects.toThrow('encoding "gzip, gzip"');
    answers['/broken'] = send(200, gzip, 'no gzip');
    await expect(fetchPath('/broken')).rejects.toMatchObject({ code: 'source_unreachable' });
  });

  test('downloads neither what is too large nor what holds no text', async () => {
    answers['/large'] = send(200, { 'content-length': '10000001' });
    await expect(fetchPath('/large')).rejects.toMatchObject({ code: 'file_too_large' });
    answers['/image'] = send(200, { 'content-type': 'image/png' }, 'x');
    await expect(fetchPath('/image')).rejects.toMatchObject({ code: 'source_unreadable' });
    expect(asked).toEqual(['HEAD /large', 'HEAD /image']);
    answers['/endless'] = (request, response) => {
      if (request.method === 'HEAD') return void response.end();
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(64_000)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    };
    await expect(fetchPath('/endless')).rejects.toMatchObject({ code: 'file_too_large' });
  });

  test('gives up on a body that comes too slowly, and on silence', async () => {
    answers['/slow'] = (request, response) => {
      if (request.method === 'HEAD') return void response.end();
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    };
    await expect(fetchPath('/slow', { fetchMs: 300 })).rejects.toMatchObject({
      code: 'source_unreachable',
      message: `${site}/slow did not answer in time.`,
    });
    answers['/silent'] = () => undefined;
    await expect(fetchPath('/silent', { fetchMs: 100 })).rejects.toThrow('in time');
    const never = () => new Promise<never>(() => undefined);
    await expect(fetchPath('/', { fetchMs: 50, resolve: never })).rejects.toThrow('in time');
  });

  test('leaves a host alone that failed three times, until a while has passed', async () => {
    let time = 0;
    const fetcher = new PageFetcher({ ...options, nowMs: () => time });
    const ask = () =>
      fetcher.fetch(`${site}/down`).then(
        () => 'page',
        ({ code }: { code: string }) => code,
      );
    answers['/down'] = send(503);
    expect(await ask()).toBe('source_unreachable');
    expect(await ask()).toBe('source_unreachable');
    expect(await ask()).toBe('source_unreachable');
    expect(await ask()).toBe('provider_circuit_open');
    expect(asked).toHaveLength(3);
    time = 10_001;
    answers['/down'] = send(200, {}, 'up');
    expect(await ask()).toBe('page');
  });
});

describe('pages as sources', () => {
  test('come in the order of their places, at most ten at once', async () => {
    let [now, most] = [0, 0];
    const names = Array.from({ length: 25 }, (_, at) => `/page-${at}`);
    for (const [at, name] of names.entries()) {
      answers[name] = (request, response) => {
        most = Math.max(most, ++now);
        response.on('close', () => now--);
        const page = request.method === 'HEAD' ? '' : `Page ${at}.`;
        // Later ones answer first.
        setTimeout(() => response.writeHead(200).end(page), (25 - at) * 2);
      };
    }
    const { sources } = await gatherSources(
      names.map((name) => site + name),
      options,
    );
    expect(sources.map(({ draft }) => draft.excerpts[0])).toEqual(
      names.map((_, at) => `Page ${at}.`),
    );
    expect(most).toBeLessThanOrEqual(10);
    expect(most).toBeGreaterThan(1);
  });

  test('keep what was fetched, the address at which it was found and what the page says', async () => {
    const page = `<html><head><title>Rye</title></head><body><p>${'Rye is baked. '.repeat(20)}</p>`;
    answers['/old'] = to('/new');
    answers['/new'] = send(200, { 'content-type': 'text/html; charset=utf-8' }, page);
    const [source] = (await gatherSources([`${site}/old`], options)).sources;
    expect(source).toMatchObject({
      place: `${site}/old`,
      draft: { title: 'Rye', url: `${site}/new` },
      archived: { mediaType: 'text/html', bytes: Buffer.from(page) },
    });
    expect(source?.draft.degraded).toBeUndefined();
    answers['/notes.md'] = send(200, { 'content-type': 'text/plain' }, '# Notes\n\nText.\n');
    const [notes] = (await gatherSources([`${site}/notes.md`], options)).sources;
    expect(notes?.draft.title).toBe('Notes');
  });

  test('that cannot be fetched or read are degraded with the reason; doubles are one', async () => {
    answers['/down'] = send(500);
    answers['/image'] = send(200, { 'content-type': 'image/png' });
    answers['/page'] = send(200, {}, 'Text.');
    const places = ['/down', '/gone', '/image', '/page', '/page?utm_source=x'].map(
      (path) => site + path,
    );
    answers['/page?utm_source=x'] = answers['/page'];
    const { sources, refused } = await gatherSources(places, options);
    expect(refused).toEqual([]);
    expect(sources.map(({ draft }) => draft.degraded)).toEqual([
      `${site}/down answered with status 500.`,
      `${site}/gone answered with status 404.`,
      `${site}/image is image/png, which holds no text.`,
      undefined,
    ]);
    expect(sources[0]).toEqual({
      place: places[0],
      draft: expect.objectContaining({ title: places[0], url: places[0], excerpts: [] }),
    });
  });

  test('end with the reason of the caller who stops it', async () => {
    answers['/silent'] = () => undefined;
    const stopper = new AbortController();
    const gathering = gatherSources([`${site}/silent`], { ...options, signal: stopper.signal });
    await expect.poll(() => asked).toEqual(['HEAD /silent']);
    stopper.abort(new Error('stopped'));
    await expect(gathering).rejects.toThrow('stopped');
  });
});
