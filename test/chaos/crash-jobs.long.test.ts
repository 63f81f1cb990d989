import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { DAG_OF_500, expectEveryResultOnce, killAlone, killAmong, seedDag } from './crash-jobs.ts';

test('500 kills over a DAG of 500 jobs on an embedded store', async () => {
  const place = await emptyStore('embedded');
  await seedDag(place, DAG_OF_500);
  await killAlone(place, { concurrency: 2, leaseMs: 30_000, jobMs: 280 }, 11, 500);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`embedded: ${takeovers} takeovers`);
});

test('500 kills over a DAG of 500 jobs on a server with four workers', async () => {
  const place = await emptyStore('server');
  await seedDag(place, DAG_OF_500);
  await killAmong(place, { concurrency: 1, leaseMs: 30_000, jobMs: 280 }, 4, 12, 500);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`server: ${takeovers} takeovers`);
  expect(takeovers).toBeGreaterThanOrEqual(250);
});
