import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { expectEveryResultOnce, killAlone, killAmong, seedDag } from './crash-jobs.ts';

const SMALL = { roots: 2, steps: [3, 3] };

test('2 kills of the only worker of an embedded store lose and repeat no effect', async () => {
  const place = await emptyStore('embedded');
  await seedDag(place, SMALL);
  await killAlone(place, { concurrency: 4, leaseMs: 30_000, jobMs: 30 }, 1, 2);
  // How many takeovers are noted is chance: PGlite may lose a claim that it committed last.
  await expectEveryResultOnce(place, SMALL);
});

test('4 kills among four workers of a server lose and repeat no effect', async () => {
  const place = await emptyStore('server');
  await seedDag(place, SMALL);
  await killAmong(place, { concurrency: 2, leaseMs: 30_000, jobMs: 30 }, 4, 2, 4);
  const takeovers = await expectEveryResultOnce(place, SMALL);
  console.log(`${takeovers} takeovers`);
  expect(takeovers).toBeGreaterThanOrEqual(2);
});
