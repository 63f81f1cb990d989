import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { workplaceOf } from '../../src/jobs/workplaces.ts';
import { sleep } from '../../src/platform/clock.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, emptyDatabase, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('a worker whose start fails', (kind) => {
  test('is present no longer', async () => {
    const database = await openTestStore(kind);
    database.driver.listen = () => Promise.reject(new Error('too many connections'));
    const worker = new Worker({ database, handlers: {} });
    await expect(worker.start()).rejects.toThrow('too many connections');
    const count = () => database.driver.countPresent([workplaceOf(undefined)]);
    await expect.poll(count).toEqual([0]);
  });
});

describeOnBoth('a worker that stops', (kind) => {
  test('is not counted while its last job ends, nor after it', async () => {
    const database = await openTestStore(kind);
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const handlers = {
      EXECUTE: async () => {
        begun.resolve();
        await held.promise;
      },
    };
    const worker = new Worker({ database, handlers, pollMs: 50 });
    const count = () => database.driver.countPresent([workplaceOf(undefined)]);
    const { tenantId } = await newTenant(database);
    await (await Bench.open(database, tenantId)).enqueue(named('one'));
    await worker.start();
    await begun.promise;
    expect(await count()).toEqual([1]);
    const stopped = worker.stop(60_000);
    await expect.poll(count, { timeout: 5_000 }).toEqual([0]);
    expect(worker.running).toBe(1);
    held.resolve();
    await stopped;
    expect(await count()).toEqual([0]);
    await database.close();
  });
});

/** The way to a server that does not hear when its clients are cut off. */
async function startDeafProxy(target: URL) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    sockets.add(near);
    near.on('error', () => {});
    far.on('error', () => near.destroy());
    near.on('data', (data) => far.write(data));
    near.on('end', () => far.end());
    far.on('data', (data) => near.write(data));
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = Object.assign(new URL(target.href), { port: String(port) }).href;
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return { url, cut };
}

test('a presence that waits for its forerunner adds no connection with each try', async () => {
  const target = new URL(await emptyDatabase());
  const name = target.pathname.slice(1);
  const admin = new pg.Client({ connectionString: target.href });
  await admin.connect();
  await admin.query(`alter database ${name} set statement_timeout = 200`);
  const others = 'from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()';
  onTestFinished(async () => {
    await admin.query(`select pg_terminate_backend(pid) ${others}`, [name]);
    await admin.end();
  });
  const { url, cut } = await startDeafProxy(target);
  const database = await openDatabase({ databaseUrl: url }, { migrate: false });
  const presence = await database.driver.announce('00000000-0000-0000-0000-000000000001', 'place');
  cut();
  await sleep(4_000);
  const { rows } = await admin.query<{ count: number }>(`select count(*)::int ${others}`, [name]);
  expect(rows[0]!.count).toBeLessThan(5);
  await presence.end();
  await database.close();
});
