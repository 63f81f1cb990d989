import { setTimeout as sleep } from 'node:timers/promises';
import { CHILDREN, STEPS } from './engine.ts';
import type { Fleet } from './fleet.ts';

export type Run = [id: string, micros: number];

/** What a timed piece of work gave: how long it took, and which handlers ran when. */
type Timed = { seconds: number; runs: Run[] };

let serial = 0;
const freshPrefix = (): string => `r${++serial}-`;

const makeIds = (count: number): string[] => {
  const prefix = freshPrefix();
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
};

/**
 * From the start of the first handler until a look into the database finds every job finished. The
 * jobs become visible all at once to workers that run and wait, so neither the start of processes
 * nor the enqueueing is counted.
 */
async function time(
  { client, workers }: Fleet,
  command: { do: 'noops' | 'trees'; ids: string[] },
  expected: number,
): Promise<Timed> {
  const before = workers.map((worker) => worker.count());
  const handled = (): number =>
    workers.reduce((sum, worker, index) => sum + worker.count() - before[index]!, 0);
  await Promise.all(workers.map((worker) => worker.tell({ do: 'report' })));
  await client.tell(command);
  while (handled() < expected) await Promise.race(workers.map((worker) => worker.changed()));
  const { micros } = await client.tell({ do: 'await' });
  const reports = await Promise.all(workers.map((worker) => worker.tell({ do: 'report' })));
  const runs = reports.flatMap((report) => report.runs!);
  const first = runs.reduce((least, [, at]) => Math.min(least, at), Infinity);
  return { seconds: (micros! - first) / 1e6, runs };
}

/** Jobs a second whose handler returns at once; throws unless each ran exactly once. */
export async function measureNoops(fleet: Fleet, count: number): Promise<number> {
  const ids = makeIds(count);
  const { seconds, runs } = await time(fleet, { do: 'noops', ids }, count);
  checkOnce(runs, ids);
  return count / seconds;
}

/** Seconds for so many trees; throws unless each child ran exactly once and after its step's turn. */
export async function measureTrees(fleet: Fleet, count: number): Promise<number> {
  const trees = makeIds(count);
  const { seconds, runs } = await time(
    fleet,
    { do: 'trees', ids: trees },
    count * STEPS * CHILDREN,
  );
  checkTrees(
    runs.filter(([id]) => !id.endsWith('/plan')),
    trees,
  );
  return seconds;
}

/** Milliseconds from the call that enqueues a job until its handler starts, on an idle worker. */
export async function measureLatency(fleet: Fleet, samples: number): Promise<number[]> {
  const worker = fleet.workers[0]!;
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await sleep(20 + (sample % 10) * 3); // not in step with anybody's polling
    await worker.tell({ do: 'report' });
    const ids = makeIds(1);
    const { micros } = await fleet.client.tell({ do: 'noops', ids });
    let runs: Run[] = [];
    while (runs.length === 0) {
      runs = (await worker.tell({ do: 'report' })).runs!;
      if (runs.length === 0) await sleep(1);
    }
    times.push((runs[0]![1] - micros!) / 1000);
  }
  await fleet.client.tell({ do: 'await' });
  return times;
}

function checkOnce(runs: readonly Run[], expected: readonly string[]): void {
  const seen = new Set(runs.map(([id]) => id));
  const missing = expected.filter((id) => !seen.has(id)).length;
  if (missing > 0 || runs.length !== expected.length) {
    throw new Error(`${missing} jobs never ran; ${runs.length} runs of ${expected.length} jobs.`);
  }
}

function checkTrees(runs: readonly Run[], trees: readonly string[]): void {
  const steps = Array.from({ length: STEPS }, (_, index) => index + 1);
  const children = (tree: string, step: number): Run[] =>
    runs.filter(([id]) => id.startsWith(`${tree}/${step}/`));
  for (const tree of trees) {
    let previousEnd = 0;
    for (const step of steps) {
      const times = children(tree, step).map(([, at]) => at);
      if (
        times.length !== CHILDREN ||
        new Set(children(tree, step).map(([id]) => id)).size !== CHILDREN
      )
        throw new Error(`Step ${step} of ${tree}: ${times.length} runs of ${CHILDREN} children.`);
      if (Math.min(...times) < previousEnd) throw new Error(`Step ${step} of ${tree} began early.`);
      previousEnd = Math.max(...times);
    }
  }
  const expected = trees.length * STEPS * CHILDREN;
  if (runs.length !== expected) throw new Error(`${runs.length} runs of ${expected} children.`);
}
