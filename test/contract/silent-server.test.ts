import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { elapsedMs, sleep } from '../../src/platform/clock.ts';
import { emptyDatabase } from '../stores.ts';

/** The way to a server; once silent, it keeps all connections open and forwards nothing more. */
async function startProxy(target: URL) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => void (isSilent || to.write(data)));
      from.on('end', () => void (isSilent || to.end()));
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(target.href), { port: String(port) }).href,
    goSilent: () => {
      isSilent = true;
    },
  };
}

test('a worker of a server that went silent stops within ten seconds', async () => {
  const { url, goSilent } = await startProxy(new URL(await emptyDatabase()));
  const database = await openDatabase({ databaseUrl: url });
  const worker = new Worker({ database, handlers: {}, pollMs: 50, log: () => {} });
  await worker.start();
  goSilent();
  await sleep(1_000);
  const began = elapsedMs();
  await worker.stop();
  const refused = database.asWorker((tx) => tx.query('select 1'));
  await expect(refused).rejects.toMatchObject({ code: 'database_unreachable' });
  await database.close();
  expect(elapsedMs() - began).toBeLessThan(10_000);
});

test('a database whose server went silent closes within ten seconds, and names what was cut', async () => {
  const { url, goSilent } = await startProxy(new URL(await emptyDatabase()));
  const database = await openDatabase({ databaseUrl: url });
  const asked = database.asWorker(async (tx) => {
    goSilent();
    await tx.query('select 1');
  });
  const named = expect(asked).rejects.toMatchObject({ code: 'database_unreachable' });
  await sleep(100);
  const began = elapsedMs();
  await database.close();
  expect(elapsedMs() - began).toBeLessThan(10_000);
  await named;
});

test('a server that answers without a row is refused by name', async () => {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ready = message('Z', Buffer.from('I'));
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
      socket.on('data', () => {
        socket.write(Buffer.concat([message('C', Buffer.from('SELECT 0\0')), ready]));
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const opened = openDatabase({ databaseUrl: `postgres://u@127.0.0.1:${port}/d` });
  await expect(opened).rejects.toMatchObject({ code: 'database_unsupported' });
});
