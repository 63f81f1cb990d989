import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { commitEffects, type JobContext } from '../../src/jobs/context.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { addGate } from '../../src/jobs/sessions.ts';
import type { Job } from '../../src/jobs/types.ts';
import { sleep } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';

const effects = { writeAtOnce: (tx: Transaction) => tx.query('select 1') };
const nameOf = ({ payload }: Pick<Job, 'payload'>) => String(payload['name']);

describeOnBoth('a commit that takes the next jobs', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });
  const open = async (session = {}) => {
    ({ tenantId } = await newTenant(database));
    return Bench.open(database, tenantId, session);
  };
  const claimFor = (run: Bench, workerId: string, room: number) =>
    claimJobs(database, workerId, room, 60_000, 'nothing', run);
  const offer = (run: Bench, job: Job, workerId: string, room: number) =>
    commitEffects(database, job, effects, {
      workerId,
      sessionId: run.sessionId,
      room,
      leaseMs: 60_000,
    });
  const end = async (...given: Parameters<typeof offer>) => (await offer(...given)) ?? [];
  const limit = (most: number) =>
    database.asTenant(tenantId, (tx) =>
      tx.query(
        `insert into concurrency_limits (tenant_id, key, max_running)
         values (current_tenant(), 'one', $1)`,
        [most],
      ),
    );

  test('claims what it sets free, under a lease that holds', async () => {
    const run = await open();
    const [first = ''] = await run.enqueue(named('first'));
    await run.enqueue(named('second', { prerequisiteId: first }));
    const worker = newId();
    const [job] = await claimFor(run, worker, 5);
    const [next, ...others] = await end(run, job!, worker, 5);
    expect(others).toEqual([]);
    expect(nameOf(next!)).toBe('second');
    expect(await run.statuses()).toEqual({ first: 'completed', second: 'processing' });
    await commitEffects(database, next!, effects);
    expect(await run.statuses()).toEqual({ first: 'completed', second: 'completed' });
  });

  test('that has lost its lease fails, and takes nothing', async () => {
    const run = await open();
    await run.enqueue(named('a'), named('b'));
    const worker = newId();
    const [job] = await claimFor(run, worker, 1);
    const lost = { ...job!, leaseToken: newId() };
    await expect(end(run, lost, worker, 5)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await run.statuses()).toEqual({ a: 'processing', b: 'pending' });
  });

  test('gives each worker its own, and none to two of its jobs', async () => {
    const run = await open();
    await run.enqueue(...['a', 'b', 'c', 'd'].map((name) => named(name)));
    const workers = [newId(), newId()];
    const held = await Promise.all(workers.map((worker) => claimFor(run, worker, 2)));
    await run.enqueue(...['e', 'f', 'g', 'h', 'i'].map((name) => named(name)));
    const taken = await Promise.all(
      workers.map(async (worker, at) =>
        (await Promise.all(held[at]!.map((job) => end(run, job, worker, 1)))).flat(),
      ),
    );
    expect(taken.map((jobs) => jobs.length)).toEqual([2, 2]);
    expect(taken.flat().map(nameOf).toSorted()).toEqual(['e', 'f', 'g', 'h']);
  });

  test('keeps to the limits of the session and of a key', async () => {
    const run = await open({ maxRunning: 2 });
    await limit(1);
    const keyed = { concurrencyKey: 'one' };
    await run.enqueue(named('a', keyed), named('b', keyed), named('c', keyed), named('d'));
    const worker = newId();
    const [a, d] = await claimFor(run, worker, 10);
    expect([a, d].map((job) => nameOf(job!))).toEqual(['a', 'd']);
    expect((await end(run, a!, worker, 10)).map(nameOf)).toEqual(['b']);
    expect((await end(run, d!, worker, 10)).map(nameOf)).toEqual([]);
  });

  test('leaves the slots of a limit to sessions that wait for them', async () => {
    const run = await open();
    const other = await Bench.open(database, tenantId);
    await limit(3);
    const keyed = { concurrencyKey: 'one' };
    await run.enqueue(...['a', 'b', 'c', 'd', 'e'].map((name) => named(name, keyed)));
    const worker = newId();
    const [a, b, c] = await claimFor(run, worker, 3);
    // What is under no limit waits for no slot.
    await other.enqueue(named('free'));
    expect((await end(run, a!, worker, 1)).map(nameOf)).toEqual(['d']);
    await other.enqueue(named('x', keyed));
    expect(await offer(run, b!, worker, 1)).toBeNull();
    const others = await claimFor(other, newId(), 2);
    expect(others.map(nameOf)).toEqual(['free', 'x']);
    expect((await end(run, c!, worker, 1)).map(nameOf)).toEqual(['e']);
  });

  test('lets a second run begin while the first has more than a limit allows', async () => {
    const run = await open();
    const other = await Bench.open(database, tenantId);
    await limit(2);
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const execute = async ({ job, commit }: JobContext) => {
      if (order.push(nameOf(job).slice(0, 1)) === 4) begun.resolve();
      await sleep(20);
      await commit(effects);
    };
    const keyed = { concurrencyKey: 'one' };
    const jobs = (name: string, count: number) =>
      Array.from({ length: count }, (_, at) => named(`${name}${at}`, keyed));
    const done = (name: string, count: number) =>
      Object.fromEntries(jobs(name, count).map((job) => [job.payload['name'], 'completed']));
    await run.enqueue(...jobs('a', 40));
    await withWorker(
      database,
      { EXECUTE: execute },
      async () => {
        await begun.promise;
        await other.enqueue(...jobs('b', 5));
        await withWorker(
          database,
          { EXECUTE: execute },
          async () => {
            await other.settled(done('b', 5));
            // Its turn came within a few jobs of the other, and each time again.
            expect(order.lastIndexOf('b')).toBeLessThan(35);
            await run.settled(done('a', 40));
          },
          { session: other },
        );
      },
      { session: run },
    );
  });

  test('takes nothing from a session that is paused', async () => {
    const run = await open();
    await run.enqueue(named('a'), named('b'));
    const worker = newId();
    const [job] = await claimFor(run, worker, 1);
    await database.asTenant(tenantId, (tx) => addGate(tx, run.sessionId, 'user'));
    expect(await end(run, job!, worker, 1)).toEqual([]);
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'pending' });
  });

  test('saves a worker of one session its claims', async () => {
    const run = await open();
    const names = Array.from({ length: 20 }, (_, at) => `j${at}`);
    const ids = names.map(() => newId());
    await run.enqueue(
      ...names.map((name, at) => ({
        ...named(name),
        id: ids[at]!,
        prerequisiteId: ids[at - 1] ?? null,
      })),
    );
    const sent = await watchTexts(database);
    const execute = ({ commit }: JobContext) => commit(effects);
    const done = Object.fromEntries(names.map((name) => [name, 'completed']));
    const options = { session: run, pollMs: 60_000 };
    await withWorker(database, { EXECUTE: execute }, () => run.settled(done), options);
    const texts = sent().join('\n');
    expect(texts.match(/execute "batch_claim-next"/g)).toHaveLength(20);
    expect(texts.match(/execute "batch_claim-jobs"/g)!.length).toBeLessThan(5);
  });

  test('hands back what came with it when the worker was stopped meanwhile', async () => {
    const run = await open();
    await run.enqueue(named('a'), named('b'), named('c'));
    const started: string[] = [];
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const execute = async ({ job, commit }: JobContext) => {
      started.push(nameOf(job));
      begin();
      const slowly = { write: async () => stopped };
      await commit(slowly);
    };
    const options = { session: run, concurrency: 1, pollMs: 60_000 };
    await withWorker(
      database,
      { EXECUTE: execute },
      async (worker) => {
        await begun;
        const ending = worker.stop();
        stop();
        await ending;
      },
      options,
    );
    expect(started).toEqual(['a']);
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'pending', c: 'pending' });
  });
});
