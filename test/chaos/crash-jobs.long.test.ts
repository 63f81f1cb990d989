import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { DAG_OF_500, expectEveryResultOnce, killAlone, killAmong, seedDag } from './crash-jobs.ts';

test('500 kills over a DAG of 500 jobs on an embedded store', async () => {
  const place = await emptyStore('embedded');
  await seedDag(place, DAG_OF_500);
  const settings = { concurrency: 2, leaseMs: 30_000, jobMs: 280 };
  const kills = await killAlone(place, settings, 11, 500);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`embedded: ${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThanOrEqual(500);
});

test('500 kills over a DAG of 500 jobs on a server with four workers', async () => {
  const place = await emptyStore('server');
  await seedDag(place, DAG_OF_500);
  const settings = { concurrency: 1, leaseMs: 30_000, jobMs: 1_200 };
  const kills = await killAmong(place, settings, 4, 12, 500);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`server: ${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThanOrEqual(500);
});
