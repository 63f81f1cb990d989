import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { StoreLocation } from '../../src/db/open.ts';
import { expectEveryResultOnce, readProgress, seedDag, startWorker } from './crash-jobs.ts';
import type { Script } from './processes.ts';

const LEASE_MS = 600;
/** A worker that is stopped inside of a transaction locks its job's row: then it is stopped anew. */
const STUCK_MS = 10 * LEASE_MS;

/**
 * Stops a worker in the middle of its jobs until its leases have run out and another worker has
 * begun one of them, then lets it go on: it must find that it lost them and write nothing.
 */
export async function outliveZombies(place: StoreLocation, stops: number): Promise<void> {
  const settings = { concurrency: 4, leaseMs: LEASE_MS };
  const zombie = startWorker(place, { ...settings, jobMs: 1_000 });
  let [seen, roots] = [0, 0];
  for (let stopped = 0; stopped < stops; ) {
    // An heir beside a stuck zombie may do all that there is: each round brings its own jobs.
    await seedDag(place, { roots: 4, steps: [4] }, roots);
    roots += 4;
    const name = await nextStart(zombie, seen);
    seen = zombie.lines.length;
    zombie.child.kill('SIGSTOP');
    const heir = startWorker(place, { ...settings, jobMs: 250 });
    const taken = heir.line((line) => line === `start ${name}`).then(() => true);
    await heir.line((line) => line === 'open');
    if (await Promise.race([taken, sleep(STUCK_MS, false)])) stopped++;
    zombie.child.kill('SIGCONT');
    await expect.poll(() => refusals(zombie), { timeout: 60_000 }).toBeGreaterThanOrEqual(stopped);
    heir.child.kill('SIGKILL');
  }
  const last = startWorker(place, { ...settings, jobMs: 250 });
  await expect
    .poll(async () => (await readProgress(place)).open, { timeout: 600_000, interval: 200 })
    .toBe(0);
  zombie.child.kill('SIGKILL');
  last.child.kill('SIGKILL');
  const takeovers = await expectEveryResultOnce(place, { roots, steps: [4] });
  console.log(`${stops} stops, ${takeovers} takeovers, ${refusals(zombie)} late commits refused`);
  expect(takeovers).toBeGreaterThanOrEqual(stops);
}

/** How many commits of a worker came after its lease was lost. */
const refusals = (worker: Script): number =>
  worker.errors.join('').match(/no longer held/g)?.length ?? 0;

/** The name of an EXECUTE job that the worker begins after it has printed so many lines. */
async function nextStart(worker: Script, seen: number): Promise<string> {
  const isNew = (line: string): boolean =>
    line.startsWith('start') && line.includes('/') && worker.lines.lastIndexOf(line) >= seen;
  return (await worker.line(isNew)).slice('start '.length);
}
