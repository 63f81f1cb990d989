import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readWaits } from '../../src/jobs/waits.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('attempts and rests', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  test('are those of the settings, unless the job has its own', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('usual'), named('own', { maxAttempts: 4 }));
    const EXECUTE = async () => {
      throw new DialecticError('provider_unavailable', 'down');
    };
    const settings = {
      ...DEFAULT_JOB_SETTINGS,
      maxAttempts: 2,
      firstRetryMs: 1,
      longestRetryMs: 2,
    };
    await withWorker(database, { EXECUTE }, () => run.settled({ usual: 'failed', own: 'failed' }), {
      settings,
      pollMs: 20,
    });
    expect((await run.rows()).map((row) => row.attempt)).toEqual([2, 4]);
  });

  test('are one wait for all jobs of the same fault, whatever its details say', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('a'), named('b'), named('c'));
    let rests = 59_000;
    const EXECUTE = async ({ job }: JobContext) => {
      const details = { retryAfterMs: rests++, sent: false };
      const message = job.payload['name'] === 'c' ? 'other keeps failing.' : 'lab keeps failing.';
      throw new DialecticError('provider_circuit_open', message, { details });
    };
    const rested = { a: 'retrying', b: 'retrying', c: 'retrying' } as const;
    await withWorker(database, { EXECUTE }, () => run.settled(rested), { pollMs: 20 });
    const waits = await database.asTenant(tenantId, (tx) => readWaits(tx, run.sessionId));
    const told = waits.map(({ jobs, error }) => `${jobs} ${error?.message}`).toSorted();
    expect(told).toEqual(['1 other keeps failing.', '2 lab keeps failing.']);
  });
});
