import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { expectEveryResultOnce, killAlone, killAmong, seedDag } from './crash-jobs.ts';

const SMALL = { roots: 2, steps: [3, 3] };

test('kills of the only worker of an embedded store lose and repeat no effect', async () => {
  const place = await emptyStore('embedded');
  await seedDag(place, SMALL);
  const kills = await killAlone(place, { concurrency: 4, leaseMs: 30_000, jobMs: 30 }, 1);
  const takeovers = await expectEveryResultOnce(place, SMALL);
  console.log(`${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThan(1);
}, 240_000);

test('kills among four workers of a server lose and repeat no effect', async () => {
  const place = await emptyStore('server');
  await seedDag(place, SMALL);
  const settings = { concurrency: 2, leaseMs: 30_000, jobMs: 300 };
  const kills = await killAmong(place, settings, 4, 2);
  const takeovers = await expectEveryResultOnce(place, SMALL);
  console.log(`${kills} kills, ${takeovers} takeovers`);
  expect(kills).toBeGreaterThan(3);
}, 120_000);
