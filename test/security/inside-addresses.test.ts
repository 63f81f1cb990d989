import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DialecticError } from '../../src/errors/errors.ts';
import { PageFetcher } from '../../src/gather/fetch-page.ts';
import { gatherSources } from '../../src/gather/gather-sources.ts';
import { isOwnAddress, isPublicAddress } from '../../src/platform/special-addresses.ts';
import { insideAddresses, NAMED } from './inside-addresses.ts';

/** A server on every address of this machine; it counts who connects, whatever they ask for. */
let server: Server;
let port: number;
let connections = 0;
let location = '';
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const to = request.url === '/in' ? location : undefined;
    response.writeHead(to === undefined ? 200 : 302, to === undefined ? {} : { location: to });
    response.end(to === undefined && request.method === 'GET' ? 'secret' : '');
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  connections = 0;
  asked.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const hostAddresses = (addresses: readonly string[]) =>
  addresses.map((address) => ({ address, family: isIP(address) || 6 }));

const resolve = async (host: string) => {
  const known = NAMED[host.toLowerCase().replace(/\.$/, '')];
  if (known === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
  return hostAddresses(known);
};

const codeOf = async (address: string, fetcher: PageFetcher): Promise<string> =>
  fetcher.fetch(address).then(
    () => 'fetched',
    ({ code }: DialecticError) => code,
  );

describe('an address that is not of the public internet', () => {
  test('is refused in every form, and nothing connects to it', async () => {
    const forms = insideAddresses(port);
    expect(new Set(forms).size).toBe(forms.length);
    expect(forms.length).toBeGreaterThanOrEqual(150);
    const fetcher = new PageFetcher({ resolve });
    const reached: string[] = [];
    for (const form of forms) {
      const code = await codeOf(form, fetcher);
      if (code !== 'source_address_refused') reached.push(`${form}: ${code}`);
    }
    expect(reached).toEqual([]);
    expect(connections).toBe(0);
  });

  test('is refused as a source, too, and no degraded source is made of it', async () => {
    const places = [`http://127.0.0.1:${port}/`, 'file:///etc/passwd'];
    const { sources, refused } = await gatherSources(places, { resolve });
    expect(sources).toEqual([]);
    expect(refused.map(({ error }) => error.code)).toEqual(
      places.map(() => 'source_address_refused'),
    );
    expect(connections).toBe(0);
  });

  test('is reached where its host was opened by name, which shows that the listener counts', async () => {
    const fetcher = new PageFetcher({ resolve, allowPrivate: ['inside.test'] });
    const { bytes } = await fetcher.fetch(`http://inside.test:${port}/`);
    expect(bytes.toString()).toBe('secret');
    expect(asked).toEqual(['HEAD /', 'GET /']);
    expect(connections).toBe(2);
  });

  test('is refused behind a redirect of a host that may be asked', async () => {
    const fetcher = new PageFetcher({ resolve, allowPrivate: [`inside.test:${port}`] });
    const wrong: string[] = [];
    for (const form of insideAddresses(port)) {
      if (/inside\.test\.?:/i.test(form) || !/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(form)) continue;
      location = encodeURI(form).replaceAll('%25', '%');
      const code = await codeOf(`http://inside.test:${port}/in`, fetcher);
      const known = ['source_address_refused', 'source_unreachable'];
      if (!known.includes(code)) wrong.push(`${form}: ${code}`);
    }
    expect(wrong).toEqual([]);
    expect(new Set(asked)).toEqual(new Set(['HEAD /in']));
    expect(connections).toBe(asked.length);
  });

  test('gains nothing by resolving otherwise a moment later', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    let questions = 0;
    const fetcher = new PageFetcher({
      allowPrivate: ['rebind.test'],
      resolve: async () => hostAddresses([answers[questions++] ?? expect.fail('asked again')]),
    });
    expect(await codeOf(`http://rebind.test:${port}/`, fetcher)).toBe('source_address_refused');
    // One question for each request: what was checked is what was connected to.
    expect(asked).toEqual(['HEAD /']);
    expect(questions).toBe(2);
  });

  test('is not opened with its neighbours: link-local and metadata stay closed', async () => {
    const closed = ['169.254.169.254', '0.0.0.0', '[fe80::1]', '[fd00:ec2::254]', '224.0.0.1'];
    const fetcher = new PageFetcher({ allowPrivate: closed });
    for (const host of closed) {
      expect(await codeOf(`http://${host}:${port}/`, fetcher), host).toBe('source_address_refused');
    }
    expect(connections).toBe(0);
  });
});

test('addresses are public, of one’s own network, or neither', () => {
  const open = ['8.8.8.8', '93.184.216.34', '2606:2800:220:1::1', '64:ff9b::8.8.8.8', '100.63.1.1'];
  expect(open.filter((address) => !isPublicAddress(address))).toEqual([]);
  const own = ['127.0.0.1', '10.2.3.4', '172.20.0.1', '192.168.1.1', '::1', 'fd12::1'];
  expect(own.filter((address) => !isOwnAddress(address) || isPublicAddress(address))).toEqual([]);
  const neither = ['169.254.1.1', 'fe80::1', '::ffff:10.0.0.1', 'fe80::1%lo', 'no address', ''];
  expect(neither.filter((one) => isOwnAddress(one) || isPublicAddress(one))).toEqual([]);
});
