import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { openDatabase, type StoreLocation } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { createSession } from '../../src/jobs/sessions.ts';
import { type Script, startScript } from './processes.ts';

const tenantId = LOCAL_TENANT;

export type Dag = { readonly roots: number; readonly steps: readonly number[] };
/** 6 × (1 + 82) + 2 = 500 jobs with the two of a smaller seventh tree. */
export const DAG_OF_500: Dag = { roots: 6, steps: [20, 40, 22] };

export type WorkerSettings = {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly jobMs: number;
  readonly die?: { readonly at: string; readonly every: number };
};

export function startWorker(place: StoreLocation, settings: WorkerSettings): Script {
  return startScript('job-worker.ts', JSON.stringify({ place, ...settings }));
}

/** Opens a store for a moment: an embedded one cannot be open while a worker process has it. */
async function withStore<T>(
  place: StoreLocation,
  work: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(place, { backupEveryMs: 0 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export function seedDag(place: StoreLocation, { roots, steps }: Dag): Promise<void> {
  return withStore(place, async (database) => {
    await ensureLocalTenant(database);
    await database.asTenant(tenantId, async (tx) => {
      const sessionId = await createSession(tx, { tenantId });
      const jobs = Array.from({ length: roots }, (_, n) => ({
        tenantId,
        sessionId,
        type: 'PLAN' as const,
        payload: { name: `root-${n}`, steps, step: 0 },
      }));
      await enqueueJobs(tx, jobs);
    });
  });
}

/** Which jobs are not over yet, and which failed. */
export function readProgress(place: StoreLocation) {
  return withStore(place, (database) =>
    database.asTenant(tenantId, async (tx) => {
      const [row] = await tx.query<{ open: number; failed: number; all: number }>(
        `select count(*) as all, count(*) filter (where not is_over(status)) as open,
           count(*) filter (where status in ('failed', 'cancelled')) as failed from jobs`,
      );
      return row!;
    }),
  );
}

/** Every job has its result once, with the bytes that an undisturbed run would have written. */
export async function expectEveryResultOnce(place: StoreLocation, { roots, steps }: Dag) {
  const { results, takeovers } = await withStore(place, (database) =>
    database.asTenant(tenantId, async (tx) => {
      const results = await tx.query<{ payload: { name: string; value: string } }>(
        `select payload from events where kind = 'result-written'`,
      );
      const [row] = await tx.query<{ n: number }>('select sum(takeovers)::int8 as n from jobs');
      return { results: results.map((result) => result.payload), takeovers: row!.n };
    }),
  );
  const names = Array.from({ length: roots }, (_, root) =>
    steps.flatMap((width, step) =>
      Array.from({ length: width }, (_, n) => `root-${root}/${step}/${n}`),
    ),
  ).flat();
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const expected = names.map((name) => ({ name, value: hash(name) }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(results.toSorted(byName)).toEqual(expected.toSorted(byName));
  return takeovers;
}

/** A repeatable stream of numbers, so that a failure can be run again. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Kills a single worker process so many times, or until nothing is left to do; then lets one finish.
 * Returns the kills.
 */
export async function killAlone(
  place: StoreLocation,
  settings: WorkerSettings,
  seed: number,
  most = Infinity,
) {
  const chance = seeded(seed);
  const points = ['before-work', 'before-commit', 'in-commit', 'after-commit'];
  for (let kills = 0; ; ) {
    // Every third process dies at a named point, the others whenever it happens.
    const at = points[kills % points.length]!;
    const die = kills % 3 === 0 ? { at, every: 1 + Math.floor(chance() * 3) } : undefined;
    const worker = startWorker(place, { ...settings, ...(die && kills < most && { die }) });
    // The time runs from the first job on, so that a busy machine slows the test but not its work.
    const working = worker.line((line) => line.startsWith('start')).catch(() => {});
    await Promise.race([working, sleep(5_000), worker.ended]);
    await Promise.race([sleep(kills < most ? 20 + chance() * 380 : 5_000), worker.ended]);
    worker.child.kill('SIGKILL');
    await worker.ended;
    if (kills < most) kills++;
    // Looking opens the store, which takes longer than the worker lived.
    if (kills < most && most < Infinity && kills % LOOK_EVERY !== 0) continue;
    const { open, failed } = await readProgress(place);
    expect(failed, `seed ${seed}, kill ${kills}`).toBe(0);
    if (open === 0) return kills;
  }
}

const LOOK_EVERY = 5;

/**
 * Keeps several worker processes alive while one after another is killed, so many times or until the
 * work is done; then lets them finish. Returns the kills.
 */
export async function killAmong(
  place: StoreLocation,
  settings: WorkerSettings,
  workers: number,
  seed: number,
  most = Infinity,
) {
  const chance = seeded(seed);
  const running = Array.from({ length: workers }, () => startWorker(place, settings));
  await Promise.all(running.map((worker) => worker.line((line) => line === 'open')));
  try {
    for (let kills = 0; ; ) {
      const { open, failed } = await readProgress(place);
      expect(failed, `seed ${seed}, kill ${kills}`).toBe(0);
      if (open === 0) return kills;
      // A process that has not come up yet is not worth killing: everyone gets some work done.
      const victim = Math.floor(chance() * workers);
      await running[victim]!.line((line) => line === 'open');
      await sleep(20 + chance() * 380);
      if (kills >= most) continue;
      running[victim]!.child.kill('SIGKILL');
      running[victim] = startWorker(place, settings);
      kills++;
    }
  } finally {
    for (const worker of running) worker.child.kill('SIGKILL');
  }
}
