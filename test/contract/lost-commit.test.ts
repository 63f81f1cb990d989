import { connect, createServer, type Socket } from 'node:net';
import { beforeAll, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { commitPersistently } from '../../src/jobs/retry-commit.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named } from '../engine.ts';
import { emptyStore, newTenant, openStore } from '../stores.ts';

/** A wire to the server that can be cut between a COMMIT and the answer to it. */
async function startWire() {
  const { hostname, port } = new URL(inject('postgresUrl'));
  let cuts = 0;
  const sockets = new Set<Socket>();
  const wire = createServer((client) => {
    const server = connect(Number(port), hostname);
    let committing = false;
    client.on('data', (bytes) => {
      committing = bytes.includes('commit\0');
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!committing || cuts === 0) return client.write(bytes);
      cuts--;
      client.destroy(); // the server has committed; nobody hears of it
      server.destroy();
    });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy();
          server.destroy();
        });
    }
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const address = wire.address() as { port: number };
  return {
    port: String(address.port),
    cutAnswers: (count: number) => {
      cuts = count;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      wire.close();
    },
  };
}

let database: Database;
let wire: Awaited<ReturnType<typeof startWire>>;
let tenantId: string;
beforeAll(async () => {
  wire = await startWire();
  const place = await emptyStore('server');
  if (!('databaseUrl' in place)) throw new Error('not a server');
  const databaseUrl = Object.assign(new URL(place.databaseUrl), { port: wire.port }).href;
  database = await openStore({ databaseUrl });
  ({ tenantId } = await newTenant(database));
  return () => wire.stop();
});

async function claimOne(run: Bench) {
  await run.enqueue(named('paid'));
  const [job] = await claimJobs(database, newId(), 1, 60_000, 'leases', run);
  return job!;
}
const results = (run: Bench) =>
  database.asTenant(tenantId, (tx) =>
    tx.query<{ kind: string }>(
      `select kind from events where topic = $1 and kind = 'result-written'`,
      [`results/${run.sessionId}`],
    ),
  );
const effectsOf = (run: Bench) => ({
  events: [{ topic: `results/${run.sessionId}`, kind: 'result-written' }],
});
const circumstances = () => ({ signal: new AbortController().signal, log: () => {} });

test('a commit whose answer was lost is recognised and not made again', async () => {
  const run = await Bench.open(database, tenantId);
  const job = await claimOne(run);
  wire.cutAnswers(1);
  await commitPersistently(database, job, effectsOf(run), circumstances());
  expect((await results(run)).length).toBe(1);
  expect(await run.statuses()).toEqual({ paid: 'completed' });
});

test('what such a commit has claimed is given back at once', async () => {
  const run = await Bench.open(database, tenantId);
  const first = newId();
  await run.enqueue({ ...named('paid'), id: first }, named('next', { prerequisiteId: first }));
  const workerId = newId();
  const [job] = await claimJobs(database, workerId, 1, 60_000, 'leases', run);
  const claim = { workerId, sessionId: run.sessionId, room: 1, leaseMs: 60_000 };
  wire.cutAnswers(1);
  const saved = commitPersistently(database, job!, effectsOf(run), { ...circumstances(), claim });
  expect(await saved).toEqual([]);
  expect((await results(run)).length).toBe(1);
  expect(await run.statuses()).toEqual({ paid: 'completed', next: 'pending' });
});

test('a job that another worker took over meanwhile is not taken for committed', async () => {
  const run = await Bench.open(database, tenantId);
  const job = await claimOne(run);
  await database.asWorker((tx) =>
    tx.query(`update jobs set lease_token = gen_random_uuid() where id = $1`, [job.id]),
  );
  const late = commitPersistently(database, job, effectsOf(run), circumstances());
  await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await results(run)).toEqual([]);
});

test('a single try reports that its outcome is unknown', async () => {
  const run = await Bench.open(database, tenantId);
  const job = await claimOne(run);
  wire.cutAnswers(1);
  await expect(commitEffects(database, job, effectsOf(run))).rejects.toMatchObject({
    code: 'database_unreachable',
    details: { outcome: 'unknown' },
  });
  expect((await results(run)).length).toBe(1);
});
