import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterTheFile, temporaryFolder } from '../../test/stores.ts';
import { findAddress, prepareAddress, removeAddress } from './socket-address.ts';
import { openConnection } from './socket-client.ts';

/** A data directory with a socket folder that says this, and a folder of the user beside it. */
async function receive(address: string) {
  const root = await temporaryFolder();
  const [directory, outside] = [join(root, 'data'), join(root, 'dialectic-socket-notes')];
  mkdirSync(join(directory, 'socket'), { recursive: true, mode: 0o700 });
  mkdirSync(join(outside, 'deep'), { recursive: true });
  writeFileSync(join(outside, 'deep', 'thesis.tex'), 'Five years of work.');
  const text = address.replaceAll('ROOT', root).replaceAll('OUTSIDE', outside);
  writeFileSync(join(directory, 'socket', 'address'), text);
  return { root, directory, outside };
}

const HOSTILE = [
  'OUTSIDE/api',
  'OUTSIDE/deep/api',
  'ROOT/dialectic-socket-x/../dialectic-socket-notes/api',
  '/tmp/dialectic-socket-abcdef/../..OUTSIDE/api',
  'OUTSIDE/dialectic-socket-000000000000-abcdef/api',
  'OUTSIDE/deep/../api',
  '../dialectic-socket-notes/api',
  'dialectic-socket-notes/api',
  'OUTSIDE/api\n',
  'OUTSIDE/api\0',
  '/',
  '',
  '.',
  '8080',
  '127.0.0.1:8080',
  'http://127.0.0.1:8080/',
  String.raw`\\server\pipe\dialectic-00000000000000000000000000000000`,
  String.raw`\\.\pipe\docker_engine`,
  '\u0000',
  'x'.repeat(401),
];

describe('what a received directory says of its socket', () => {
  test.each(HOSTILE)('deletes nothing and is not connected to: %j', async (address) => {
    const { directory, outside } = await receive(address);
    expect(() => findAddress(directory)).toThrow(
      expect.objectContaining({ code: 'data_directory_unusable' }),
    );
    removeAddress(directory);
    const thesis = join(outside, 'deep', 'thesis.tex');
    expect(readFileSync(thesis, 'utf8')).toBe('Five years of work.');
    // The holder of the directory makes an address of its own all the same.
    prepareAddress(directory, { elsewhere: true });
    removeAddress(directory);
    expect(readFileSync(thesis, 'utf8')).toBe('Five years of work.');
    expect(existsSync(join(directory, 'socket'))).toBe(false);
  });

  test('is not read where it is a link or has gigabytes', async () => {
    const { directory, outside } = await receive('');
    const file = join(directory, 'socket', 'address');
    truncateSync(file, 8e9);
    expect(() => findAddress(directory)).toThrow('not what a process of yours made');
    const { directory: other } = await receive('');
    removeAddress(other);
    mkdirSync(join(other, 'socket'), { mode: 0o700 });
    symlinkSync(join(outside, 'deep', 'thesis.tex'), join(other, 'socket', 'address'));
    expect(() => findAddress(other)).toThrow('not what a process of yours made');
  });
});

/** A program that counts who comes, and says what a holder would say. */
async function listenAt(address: string): Promise<{ server: Server; count: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end(`${JSON.stringify({ version: '1', pid: 1, callsModels: true })}\n`);
  });
  await new Promise<void>((resolve) => server.listen(address, resolve));
  afterTheFile(() => server.close());
  return { server, count: () => connections };
}

describe('a socket that others could have made is refused', () => {
  const refused = (directory: string): void =>
    expect(() => findAddress(directory)).toThrow('not what a process of yours made');

  test('in a folder that others can enter', async () => {
    const directory = await temporaryFolder();
    const { count } = await listenAt(prepareAddress(directory));
    expect(findAddress(directory)).toBe(join(directory, 'socket', 'api'));
    chmodSync(join(directory, 'socket'), 0o755);
    refused(directory);
    expect(count()).toBe(0);
  });

  test('behind a link to another program, or in a folder that is one', async () => {
    const [directory, elsewhere] = [await temporaryFolder(), await temporaryFolder()];
    const { count } = await listenAt(join(elsewhere, 'api'));
    prepareAddress(directory);
    symlinkSync(join(elsewhere, 'api'), join(directory, 'socket', 'api'));
    refused(directory);
    const linked = await temporaryFolder();
    symlinkSync(elsewhere, join(linked, 'socket'));
    refused(linked);
    expect(() => prepareAddress(linked)).toThrow('EEXIST');
    expect(readdirSync(elsewhere)).toEqual(['api']);
    expect(count()).toBe(0);
  });

  test('of another directory, which keeps its socket', async () => {
    const [mine, received] = [await temporaryFolder(), await temporaryFolder()];
    const address = prepareAddress(mine, { elsewhere: true });
    const { count } = await listenAt(address);
    prepareAddress(received);
    writeFileSync(join(received, 'socket', 'address'), address);
    refused(received);
    removeAddress(received);
    expect(statSync(address).isSocket()).toBe(true);
    expect(findAddress(mine)).toBe(address);
    expect(count()).toBe(0);
    removeAddress(mine);
  });

  test.runIf(process.getuid?.() === 0)('of another user (needs root)', async () => {
    const { chownSync } = await import('node:fs');
    const directory = await temporaryFolder();
    const address = prepareAddress(directory);
    const { count } = await listenAt(address);
    chownSync(address, 12_345, 12_345);
    refused(directory);
    chownSync(address, 0, 0);
    chownSync(join(directory, 'socket'), 12_345, 12_345);
    refused(directory);
    expect(count()).toBe(0);
  });
});

test('a folder that this program made for a dead holder goes, and one with other files stays', async () => {
  const directory = await temporaryFolder();
  const address = prepareAddress(directory, { elsewhere: true });
  const folder = join(address, '..');
  writeFileSync(join(folder, 'thesis.tex'), '');
  removeAddress(directory);
  expect(readdirSync(folder)).toEqual(['thesis.tex']);
  rmSync(folder, { recursive: true });
});

test.each(['null', '{}', '7', '"x"', '{"version":"\\u001b[2J","pid":1,"callsModels":true}'])(
  'who greets with %s is no holder and gets no request',
  async (greeting) => {
    const address = join(await temporaryFolder(), 'api');
    const server = createServer((socket) => socket.write(`${greeting}\n`)).listen(address);
    afterTheFile(() => server.close());
    await expect(openConnection(address)).rejects.toMatchObject({ code: 'data_directory_locked' });
  },
);
