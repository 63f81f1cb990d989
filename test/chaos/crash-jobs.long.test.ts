import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { DAG_OF_500, expectEveryResultOnce, killAlone, killAmong, seedDag } from './crash-jobs.ts';

test('hundreds of kills over a DAG of 500 jobs on an embedded store', async () => {
  const place = await emptyStore('embedded');
  await seedDag(place, DAG_OF_500);
  const kills = await killAlone(place, { concurrency: 2, leaseMs: 30_000, jobMs: 250 }, 11);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`embedded: ${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThanOrEqual(300);
});

test('500 kills over a DAG of 500 jobs on a server with four workers', async () => {
  const place = await emptyStore('server');
  await seedDag(place, DAG_OF_500);
  const settings = { concurrency: 1, leaseMs: 30_000, jobMs: 500 };
  const kills = await killAmong(place, settings, 4, 12);
  const takeovers = await expectEveryResultOnce(place, DAG_OF_500);
  console.log(`server: ${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThanOrEqual(500);
});
