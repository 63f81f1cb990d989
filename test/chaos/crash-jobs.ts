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
  /** How often a job may be taken over; without a limit where the jobs are not to blame. */
  readonly maxTakeovers?: number;
  /** Kills itself at this point of its n-th EXECUTE job. */
  readonly die?: { readonly at: string; readonly job: number };
  /** Finishes so many EXECUTE jobs and holds those that it claims after them until it is killed. */
  readonly jobs?: number;
  readonly endWhenDone?: boolean;
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

/** Adds a DAG; `from` is the number of its first root. */
export function seedDag(place: StoreLocation, { roots, steps }: Dag, from = 0): Promise<void> {
  return withStore(place, async (database) => {
    await ensureLocalTenant(database);
    await database.asTenant(tenantId, async (tx) => {
      const sessionId = await createSession(tx);
      const jobs = Array.from({ length: roots }, (_, n) => ({
        sessionId,
        type: 'PLAN' as const,
        payload: { name: `root-${from + n}`, steps, step: 0 },
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

const POINTS = ['in-commit', 'before-commit', 'after-commit', 'before-work'];

/**
 * Kills a single worker process so many times, then lets one finish. Every second process dies at a
 * named point, the others whenever it happens. None finishes more jobs than it is told to, so that
 * a slow machine cannot run out of work before the last kill.
 */
export async function killAlone(
  place: StoreLocation,
  settings: WorkerSettings,
  seed: number,
  kills: number,
): Promise<void> {
  const chance = seeded(seed);
  for (let kill = 0; kill < kills; kill++) {
    const isNamed = kill % 2 === 0;
    const job = 1 + Math.floor(chance() * 2);
    const die = { at: POINTS[(kill / 2) % POINTS.length]!, job };
    const worker = startWorker(place, {
      ...settings,
      ...(isNamed ? { die, jobs: job } : { jobs: (kill >> 1) % 2 }),
    });
    if (!isNamed) {
      await worker.line((line) => line.startsWith('start'));
      await sleep(20 + chance() * 380);
      worker.child.kill('SIGKILL');
    }
    expect(await worker.ended, `seed ${seed}, kill ${kill}: ${worker.errors.join('')}`).toBe(null);
  }
  const last = startWorker(place, { ...settings, endWhenDone: true });
  expect(await last.ended, `seed ${seed}: ${last.errors.join('')}`).toBe(0);
}

/**
 * Keeps several worker processes alive and kills them one by one, so many times; then lets new ones
 * finish. Every second victim is known to hold a job, the others die whenever it happens. As above,
 * none finishes more jobs than it is told to until the kills are over.
 */
export async function killAmong(
  place: StoreLocation,
  settings: WorkerSettings,
  workers: number,
  seed: number,
  kills: number,
): Promise<void> {
  const chance = seeded(seed);
  let started = 0;
  const start = (): Script => startWorker(place, { ...settings, jobs: started++ % 2 });
  const running = Array.from({ length: workers }, start);
  try {
    for (let kill = 0; kill < kills; kill++) {
      let victim = Math.floor(chance() * workers);
      if (kill % 2 === 0) {
        const holding = running.map(async (worker, at) => {
          await worker.line((line) => line.startsWith('hold'));
          return at;
        });
        victim = await Promise.race(holding);
      } else {
        await running[victim]!.line((line) => line === 'open');
        await sleep(20 + chance() * 380);
      }
      running[victim]!.child.kill('SIGKILL');
      running[victim] = start();
    }
  } finally {
    for (const worker of running) worker.child.kill('SIGKILL');
  }
  const last = running.map(() => startWorker(place, { ...settings, endWhenDone: true }));
  expect(await Promise.all(last.map(({ ended }) => ended))).toEqual(last.map(() => 0));
}
