import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sendHttp } from './http.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const answers: Record<string, Answer> = {};
const server = createServer((request, response) => answers[request.url!]!(response, request));
let url = '';
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close().closeAllConnections());

test('a request goes out with its headers and body, and the answer comes back', async () => {
  answers['/echo'] = (response, request) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(201, 'Made', {
        'x-key': String(request.headers['x-key']),
        'x-two': ['a', 'b'],
      });
      response.end(
        `${request.method} ${request.headers['content-length']} ${Buffer.concat(parts).toString()}`,
      );
    });
  };
  const sent = { method: 'POST', headers: { 'x-key': 'k' }, body: 'Zürich' };
  const response = await sendHttp(`${url}/echo`, sent);
  expect([response.ok, response.status, response.statusText]).toEqual([true, 201, 'Made']);
  expect([response.headers.get('X-Key'), response.headers.get('x-two')]).toEqual(['k', 'a, b']);
  expect(await response.text()).toBe('POST 7 Zürich');
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body that was packed as %s is unpacked, all of it', async (encoding, pack) => {
  const text = 'bread and water '.repeat(10_000);
  answers['/packed'] = (response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(pack(text));
  };
  expect(await (await sendHttp(`${url}/packed`)).text()).toBe(text);
});

test('a redirect is an answer', async () => {
  answers['/moved'] = (response) => response.writeHead(307, { location: '/echo' }).end();
  expect((await sendHttp(`${url}/moved`)).status).toBe(307);
});

test('an answer without a body is one', async () => {
  answers['/nothing'] = (response) => response.writeHead(204).end();
  expect(await (await sendHttp(`${url}/nothing`)).text()).toBe('');
});

test('faults are told as fetch tells them, with the code of the network', async () => {
  answers['/gone'] = (response) => response.socket?.destroy();
  await expect(sendHttp(`${url}/gone`)).rejects.toMatchObject({
    message: 'fetch failed',
    cause: { code: 'ECONNRESET' },
  });
  let cut = (): void => {};
  answers['/cut'] = (response) => {
    cut = () => response.destroy();
    response.write('half');
  };
  const reader = (await sendHttp(`${url}/cut`)).body!.getReader();
  expect(Buffer.from((await reader.read()).value).toString()).toBe('half');
  cut();
  await expect(reader.read()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('an abort ends a request before and after its head, with the reason', async () => {
  const reason = new RangeError('enough');
  await expect(sendHttp(`${url}/never`, { signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );

  const waiting = new AbortController();
  answers['/silent'] = () => waiting.abort(reason);
  await expect(sendHttp(`${url}/silent`, { signal: waiting.signal })).rejects.toBe(reason);

  const reading = new AbortController();
  answers['/slow'] = (response) => response.write('half');
  const response = await sendHttp(`${url}/slow`, { signal: reading.signal });
  reading.abort(reason);
  await expect(response.text()).rejects.toBe(reason);
});

test('a server is not read faster than its reader, and hears of one that leaves', async () => {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  let written = 0;
  answers['/flood'] = (response) => {
    const piece = Buffer.alloc(65_536);
    const write = (): void => {
      while (response.write(piece) && !response.destroyed) written += piece.length;
      response.once('drain', write);
    };
    response.on('close', resolve);
    write();
  };
  const reader = (await sendHttp(`${url}/flood`)).body!.getReader();
  await reader.read();
  let before = -1;
  // The buffers of both sides fill up, and then it stops.
  await expect
    .poll(() => before === (before = written), { interval: 100, timeout: 20_000 })
    .toBe(true);
  await reader.cancel();
  await left;
});

const portOf = (of: Server): number => (of.address() as AddressInfo).port;

test('who switches to another protocol has given no answer', async () => {
  answers['/switch'] = (response) => {
    response.socket?.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    );
  };
  await expect(sendHttp(`${url}/switch`)).rejects.toThrow('fetch failed');
});

test('an abort of a body that its connection ends is not taken for its end', async () => {
  answers['/open'] = (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf of');
  };
  const stop = new AbortController();
  const response = await sendHttp(`${url}/open`, { signal: stop.signal });
  const reading = response.text();
  setTimeout(() => stop.abort(new Error('left')), 50);
  await expect(reading).rejects.toThrow('left');
});

test('a connection serves one request after the other', async () => {
  const ports = new Set<number | undefined>();
  answers['/port'] = (response, { socket }) => {
    ports.add(socket.remotePort);
    response.end();
  };
  for (let n = 0; n < 3; n++) await (await sendHttp(`${url}/port`)).text();
  expect(ports.size).toBe(1);
});

test('a host that takes too long to connect to is given up', async () => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const mute = createSocketServer(() => resolve());
  await new Promise<void>((done) => mute.listen(0, '127.0.0.1', done));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const sent = sendHttp(`https://127.0.0.1:${portOf(mute)}/`).catch((error: unknown) => error);
    await reached;
    vi.advanceTimersByTime(10_000);
    expect(await sent).toMatchObject({ message: 'fetch failed', cause: { code: 'ETIMEDOUT' } });
  } finally {
    vi.useRealTimers();
    mute.close();
  }
});
