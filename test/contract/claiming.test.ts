import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { claimJobs, extendLeases } from '../../src/jobs/queries.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('claiming', (kind) => {
  let now = new Date('2030-01-01T00:00:00Z');
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind, { clock: () => now });
    ({ tenantId } = await newTenant(database));
  });
  const claim = (batch: number, worker = newId()) =>
    claimJobs(database, worker, batch, 30_000, 'leases');
  const many = (count: number, prefix: string, job = {}) =>
    Array.from({ length: count }, (_, n) => named(`${prefix}${n}`, job));
  const finishAll = () =>
    database.asWorker((tx) =>
      tx.query(
        `update jobs set status = 'cancelled', cancel_reason = 'session_cancelled'
         where not is_over(status)`,
      ),
    );

  test('shares a batch between sessions, so that a large one does not starve a small one', async () => {
    const large = await Bench.open(database, tenantId);
    const small = await Bench.open(database, tenantId);
    await large.enqueue(...many(500, 'large'));
    await small.enqueue(...many(3, 'small'));
    const jobs = await claim(20);
    const fromSmall = jobs.filter((job) => job.sessionId === small.sessionId);
    expect(jobs.length).toBe(20);
    expect(fromSmall.length).toBe(3);
    await finishAll();
  });

  test('never runs more of a session than it allows, also with several workers', async () => {
    const run = await Bench.open(database, tenantId, { maxRunning: 3 });
    await run.enqueue(...many(40, 'limited'));
    let running = 0;
    let most = 0;
    const execute: JobHandler = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    };
    const handlers = { EXECUTE: execute };
    await withWorker(database, handlers, () =>
      withWorker(database, handlers, () =>
        expect
          .poll(async () => new Set(Object.values(await run.statuses())))
          .toEqual(new Set(['completed'])),
      ),
    );
    expect(most).toBe(3);
  });

  test('never runs more of a key than its limit, while other keys go on', async () => {
    await database.asTenant(tenantId, (tx) =>
      tx.query('insert into concurrency_limits (tenant_id, key, max_running) values ($1, $2, 2)', [
        tenantId,
        'provider/slow',
      ]),
    );
    const run = await Bench.open(database, tenantId);
    await run.enqueue(...many(10, 'slow', { concurrencyKey: 'provider/slow' }), ...many(5, 'free'));
    const first = await claim(50);
    const names = first.map((job) => job.payload['name'] as string);
    expect(names.filter((name) => name.startsWith('slow')).length).toBe(2);
    expect(names.filter((name) => name.startsWith('free')).length).toBe(5);
    expect(await claim(50)).toEqual([]);
    await finishAll();
    await database.asTenant(tenantId, (tx) => tx.query('delete from concurrency_limits'));
  });

  test('for one session leaves the others alone', async () => {
    const mine = await Bench.open(database, tenantId);
    const other = await Bench.open(database, tenantId);
    await mine.enqueue(named('mine'));
    await other.enqueue(named('other'));
    const handlers = { EXECUTE: async () => {} };
    await withWorker(database, handlers, () => mine.settled({ mine: 'completed' }), {
      session: mine,
    });
    expect(await other.statuses()).toEqual({ other: 'pending' });
    await finishAll();
  });

  test('finds the session with work among many that are at their limit', async () => {
    for (let n = 0; n < 10; n++) {
      const full = await Bench.open(database, tenantId, { maxRunning: 1 });
      await full.enqueue(...many(2, 'full'));
    }
    expect((await claim(100)).length).toBe(10);
    const free = await Bench.open(database, tenantId);
    await free.enqueue(...many(3, 'free'));
    for (let n = 0; n < 3; n++) {
      expect((await claim(1)).map((job) => job.sessionId)).toEqual([free.sessionId]);
    }
    await finishAll();
  });

  test('takes over by the database clock when a lease ran out, and not before', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('leased'));
    const [first] = await claim(1, newId());
    now = new Date(now.getTime() + 29_000);
    expect(await claim(1)).toEqual([]);
    now = new Date(now.getTime() + 2_000);
    const [second] = await claim(1);
    expect(second!.id).toBe(first!.id);
    expect(second!.leaseToken).not.toBe(first!.leaseToken);
    expect({ takeovers: second!.takeovers, attempt: second!.attempt }).toEqual({
      takeovers: 1,
      attempt: 0,
    });
    await finishAll();
  });

  test('a heartbeat keeps a lease alive', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('beating'));
    const worker = newId();
    const [job] = await claim(1, worker);
    for (let beat = 0; beat < 3; beat++) {
      now = new Date(now.getTime() + 20_000);
      expect(await extendLeases(database, worker, 30_000, [job!])).toEqual([job!.leaseToken]);
      expect(await claim(1)).toEqual([]);
    }
    await finishAll();
  });
});
