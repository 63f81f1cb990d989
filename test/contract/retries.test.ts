import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
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
});
