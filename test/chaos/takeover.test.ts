import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { expectEveryResultOnce, seedDag, startWorker } from './crash-jobs.ts';

test('the job of a killed worker goes on elsewhere long before its lease runs out', async () => {
  const place = await emptyStore('server');
  const dag = { roots: 1, steps: [1] };
  await seedDag(place, dag);
  const settings = { concurrency: 1, leaseMs: 600_000, jobMs: 2_000 };
  const workers = [startWorker(place, settings), startWorker(place, settings)] as const;
  for (const worker of workers) await worker.line((line) => line === 'open');
  const begun = (line: string): boolean => line === 'start root-0/0/0';
  const victim = await Promise.race(workers.map((worker) => worker.line(begun).then(() => worker)));
  const heir = workers.find((worker) => worker !== victim)!;
  const killed = performance.now();
  victim.child.kill('SIGKILL');
  await heir.line(begun);
  console.log(`taken over after ${Math.round(performance.now() - killed)} ms`);
  await heir.line((line) => line === 'done root-0/0/0');
  heir.child.kill('SIGKILL');
  expect(await expectEveryResultOnce(place, dag)).toBe(1);
});
