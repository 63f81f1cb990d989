import { expect, test } from 'vitest';
import { LocalDialectic } from '../../src/api/dialectic.ts';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { elapsedMs, sleep } from '../../src/platform/clock.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

/** From the first read of a job on, no job gets a connection for a while; returns how often that was. */
function refuseWork(database: Database, forMs: number): () => number {
  const { driver } = database;
  const acquire = driver.acquire.bind(driver);
  const readsOf = database.readsOf.bind(database);
  let until: number | null = null;
  let refused = 0;
  database.readsOf = (tenantId) => {
    until ??= elapsedMs() + forMs;
    return readsOf(tenantId);
  };
  driver.acquire = async (purpose) => {
    if (purpose !== 'work' || until === null || elapsedMs() > until) return acquire(purpose);
    refused++;
    throw new DialecticError('database_unreachable', 'The store is away.', { retryable: true });
  };
  return () => refused;
}

describeOnBoth('a store that jobs cannot reach for a while', (kind) => {
  test('delays a run, and costs no job its tries', async () => {
    const database = await openTestStore(kind);
    const { tenantId } = await newTenant(database);
    const models = readModelsConfig({}, {});
    const log = (): void => {};
    const dialectic = new LocalDialectic({
      database,
      tenantId,
      models,
      jobs: DEFAULT_JOB_SETTINGS,
      log,
    });
    const { session } = await dialectic.start({
      brief: 'A bakery takes orders for cakes by telephone.',
      models: ['offline/builder', 'offline/skeptic'],
      until: 'thesis',
    });
    const countRefused = refuseWork(database, 500);
    const kinds: string[] = [];
    for await (const { kind: told } of dialectic.work(session)) kinds.push(told);
    expect(countRefused()).toBeGreaterThan(0);
    expect(kinds.at(-1)).toBe('run-rested');
    const handedBack = kinds.filter((one) => one === 'job-requeued').length;
    expect(handedBack).toBeGreaterThan(0);
    expect(handedBack).toBeLessThanOrEqual(2 * 4);
    const tried = await database.asTenant(tenantId, (tx) =>
      tx.query('select id from jobs where session_id = $1 and attempt > 0', [session]),
    );
    expect(tried).toEqual([]);
  });
});

test('a store without a free connection costs no job its tries', async () => {
  const database = await openTestStore('server', { connections: 2, connectTimeoutMs: 100 });
  const { tenantId } = await newTenant(database);
  const bench = await Bench.open(database, tenantId);
  await bench.enqueue(named('reader', { type: 'EXECUTE' }));
  const release = Promise.withResolvers<void>();
  const held = [1, 2].map(() =>
    database.aside(tenantId, async (tx) => {
      await tx.query('select 1');
      await release.promise;
    }),
  );
  const read = () => database.readsOf(tenantId).query('select 1');
  const settings = {
    ...DEFAULT_JOB_SETTINGS,
    maxAttempts: 3,
    firstRetryMs: 10,
    longestRetryMs: 20,
  };
  const execute = async (): Promise<void> => void (await read());
  await withWorker(
    database,
    { EXECUTE: execute },
    async () => {
      await sleep(2_000);
      release.resolve();
      await Promise.all(held);
      await bench.settled({ reader: 'completed' });
    },
    { settings },
  );
  expect(await bench.rows()).toMatchObject([{ attempt: 0 }]);
}, 60_000);
