import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterTheFile, temporaryFolder } from '../../test/stores.ts';
import { DialecticError } from '../errors/errors.ts';
import type { Signals } from './messages.ts';
import { findAddress, prepareAddress, removeAddress } from './socket-address.ts';
import { converse, openConnection } from './socket-client.ts';
import { type Answer, SocketServer } from './socket-server.ts';

const greeting = { version: '1', pid: process.pid, callsModels: true };

/** A server with this answer, and what a request to it brings. */
async function serve(answer: Answer) {
  const address = join(await temporaryFolder(), 'api');
  const server = await SocketServer.listen(address, greeting, answer);
  afterTheFile(() => server.close());
  async function* ask(signals: Signals = {}, method = 'm') {
    const connection = await openConnection(address);
    yield* converse(connection!, { method, args: [] }, signals);
  }
  return { server, address, ask };
}

async function gather<T>(replies: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const reply of replies) all.push(reply);
  return all;
}

test('an error arrives with its code, message and details, a bug with its place', async () => {
  const failing = { details: { model: 'x' }, retryable: false, action: 'Name another one.' };
  const { ask } = await serve(async ({ method }) => {
    if (method === 'bug') throw new TypeError('odd');
    throw new DialecticError('model_unknown', 'There is no model x.', failing);
  });
  const refused = { code: 'model_unknown', message: 'There is no model x.', ...failing };
  await expect(gather(ask())).rejects.toMatchObject(refused);
  const bug = gather(ask({}, 'bug'));
  await expect(bug).rejects.toMatchObject({
    code: 'internal_error',
    cause: { stack: expect.stringContaining('socket.test.ts') },
  });
});

test('a reader that takes its time holds the sender up', async () => {
  let sent = 0;
  const text = 'x'.repeat(100_000);
  const { ask } = await serve(async function* () {
    for (; sent < 100; sent++) yield text;
  });
  const replies = ask();
  await replies.next();
  // What fits into the buffers on the way, and no more, however long it takes.
  let before = -1;
  while (sent !== before) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(sent).toBeLessThan(50);
  expect(await gather(replies)).toHaveLength(99);
  expect(sent).toBe(100);
});

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

test('aborted signals and a left loop reach the other end', async () => {
  const heard: string[] = [];
  const { ask, server } = await serve(async function* (_request, { signal, cutOff }) {
    yield 'begun';
    await aborted(signal!);
    heard.push('aborted');
    yield 'last words';
    if (cutOff) await aborted(cutOff);
  });
  const [stop, cut] = [new AbortController(), new AbortController()];
  const events: unknown[] = [];
  for await (const reply of ask({ signal: stop.signal, cutOff: cut.signal })) {
    events.push(reply);
    (stop.signal.aborted ? cut : stop).abort();
  }
  expect(events).toMatchObject([{ event: 'begun' }, { event: 'last words' }]);
  for await (const reply of ask()) if (reply.kind === 'event') break;
  await expect.poll(() => heard).toEqual(['aborted', 'aborted']);
  await expect.poll(() => server.busy).toBe(0);
});

test('whoever ends takes no new request, and breaks off what lasts', async () => {
  const closing = Promise.withResolvers<void>();
  const { ask, server, address } = await serve(async function* () {
    yield 'begun';
    await closing.promise;
    throw new DialecticError('storage_closed', 'The store was closed.');
  });
  const lasting = ask();
  await lasting.next();
  const early = await openConnection(address);
  const closed = server.close();
  await expect(gather(converse(early!, { method: 'm', args: [] }))).rejects.toMatchObject({
    code: 'holder_ended',
  });
  closing.resolve();
  const details = { outcome: 'unknown' };
  await expect(lasting.next()).rejects.toMatchObject({ code: 'holder_ended', details });
  await closed;
  expect(await openConnection(address)).toBeUndefined();
});

test('only its owner reaches the socket, and a long path gets a short address', async () => {
  const directory = await temporaryFolder();
  const deep = join(directory, 'd'.repeat(60), 'e'.repeat(60));
  await mkdir(deep, { recursive: true });
  const addresses = [
    [directory, () => prepareAddress(directory)],
    [deep, () => prepareAddress(deep)],
    [directory, () => prepareAddress(directory, { elsewhere: true })],
  ] as const;
  for (const [place, prepare] of addresses) {
    const address = prepare();
    expect(Buffer.byteLength(address)).toBeLessThanOrEqual(100);
    expect(findAddress(place)).toBe(address);
    const server = await SocketServer.listen(address, greeting, async () => 1);
    expect(statSync(address).mode & 0o777).toBe(0o600);
    expect(statSync(join(address, '..')).mode & 0o777).toBe(0o700);
    expect((await openConnection(address))?.greeting).toEqual(greeting);
    await server.close();
    removeAddress(place);
    expect(statSync(join(address, '..'), { throwIfNoEntry: false })).toBeUndefined();
  }
  expect(prepareAddress(directory, { platform: 'win32' })).toMatch(
    /^\\\\\.\\pipe\\dialectic-[0-9a-f]{32}$/,
  );
  expect(findAddress(directory)).toContain('pipe');
});

test('a process that is alive and silent is told from one that is gone', async () => {
  const address = join(await temporaryFolder(), 'api');
  expect(await openConnection(address)).toBeUndefined();
  const mute = createServer(() => {}).listen(address);
  afterTheFile(() => mute.close());
  const silent = { code: 'data_directory_locked' };
  await expect(openConnection(address, 50)).rejects.toMatchObject(silent);
});

/** More than may be in a line, without a line break, as fast as the other end takes it. */
async function flood(socket: Socket): Promise<number> {
  const piece = Buffer.alloc(1_000_000, 'x');
  let sent = 0;
  while (socket.writable && sent < 1_000_000_000) {
    sent += piece.length;
    if (!socket.write(piece)) {
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    }
  }
  return sent;
}
const MOST_SENT = 300_000_000;

test('a request without an end is refused by name, and its connection is closed', async () => {
  const { address, ask } = await serve(async () => 'answered');
  const connection = await openConnection(address);
  const { socket, messages } = connection!;
  const reply = messages.next();
  reply.catch(() => undefined);
  expect(await flood(socket)).toBeLessThan(MOST_SENT);
  await expect(reply).resolves.toMatchObject({
    value: { kind: 'error', error: { code: 'message_too_large' } },
  });
  expect(await gather(ask())).toMatchObject([{ value: 'answered' }]);
});

test('an answer without an end is an error with a name', async () => {
  const address = join(await temporaryFolder(), 'api');
  const sent = Promise.withResolvers<number>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(`${JSON.stringify(greeting)}\n`);
    sent.resolve(flood(socket));
  }).listen(address);
  afterTheFile(() => server.close());
  const connection = await openConnection(address);
  await expect(gather(converse(connection!, { method: 'm', args: [] }))).rejects.toMatchObject({
    code: 'message_too_large',
  });
  expect(await sent.promise).toBeLessThan(MOST_SENT);
});

test('what is too large is not sent, in either direction', async () => {
  const large = 'x'.repeat(MOST_SENT);
  const { address, ask } = await serve(async ({ method }) => (method === 'large' ? large : 1));
  const tooLarge = { code: 'message_too_large' };
  await expect(gather(ask({}, 'large'))).rejects.toMatchObject(tooLarge);
  const connection = await openConnection(address);
  const request = { method: 'm', args: [large, large] };
  await expect(gather(converse(connection!, request))).rejects.toMatchObject(tooLarge);
});
