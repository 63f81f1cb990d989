import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StoreLocation } from '../../src/db/open.ts';
import { expectEveryResultOnce, readProgress, seedDag, startWorker } from './crash-jobs.ts';

/**
 * Stops a worker in the middle of its jobs until its leases have run out and another has done them,
 * then lets it go on: it must find that it lost them and write nothing. Returns how often.
 */
export async function outliveZombies(place: StoreLocation, rounds: number): Promise<number> {
  const settings = { concurrency: 4, leaseMs: 600, jobMs: 250 };
  const dag = { roots: rounds, steps: [4] };
  await seedDag(place, dag);
  const zombie = startWorker(place, settings);
  await zombie.line((line) => line === 'open');
  const heir = startWorker(place, settings);
  await heir.line((line) => line === 'open');
  let stops = 0;
  while ((await readProgress(place)).open > 0) {
    const seen = zombie.lines.length;
    await Promise.race([
      sleep(500),
      (async () => {
        while (zombie.lines.length === seen) await sleep(10);
      })(),
    ]);
    zombie.child.kill('SIGSTOP');
    await sleep(1_000);
    zombie.child.kill('SIGCONT');
    stops++;
    await sleep(200);
  }
  zombie.child.kill('SIGKILL');
  heir.child.kill('SIGKILL');
  const takeovers = await expectEveryResultOnce(place, dag);
  const refused = zombie.errors.join('').match(/no longer held/g)?.length ?? 0;
  console.log(`${stops} stops, ${takeovers} takeovers, ${refused} late commits refused`);
  expect(refused).toBeGreaterThan(0);
  return stops;
}
