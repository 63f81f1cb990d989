import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';

describeOnBoth('jobs whose results are saved together', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const effects = { writeAtOnce: (tx: Transaction) => tx.query('select 1') };
  const claimThree = async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('a'), named('b'), named('c'));
    return { run, jobs: await claimJobs(database, newId(), 3, 60_000, 'nothing', run) };
  };

  test('end by one statement', async () => {
    const { run, jobs } = await claimThree();
    const sent = await watchTexts(database);
    await Promise.all(jobs.map((job) => commitEffects(database, job, effects)));
    const texts = sent().join('\n');
    expect(texts.match(/execute "batch_hold-leases"/g)).toHaveLength(1);
    expect(texts.match(/execute "batch_complete-jobs"/g)).toHaveLength(1);
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'completed', c: 'completed' });
  });

  test('end without the one that lost its lease', async () => {
    const { run, jobs } = await claimThree();
    const lost = jobs.map((job) =>
      job.payload['name'] === 'b' ? { ...job, leaseToken: newId() } : job,
    );
    const ends = lost.map((job) => commitEffects(database, job, effects));
    const failures = (await Promise.allSettled(ends)).filter(({ status }) => status === 'rejected');
    expect(failures).toMatchObject([{ reason: { code: 'lease_lost' } }]);
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'processing', c: 'completed' });
  });
});
