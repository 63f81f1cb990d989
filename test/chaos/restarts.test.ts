import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../postgres-server.ts';
import { expectEveryResultOnce, readProgress, seedDag, startWorker } from './crash-jobs.ts';

const DAG = { roots: 3, steps: [10, 20, 10] };

test('restarts of the server under load lose and repeat no effect', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const place = { databaseUrl: await server.createDatabase('restarting') };
  await seedDag(place, DAG);
  const settings = { concurrency: 2, leaseMs: 5_000, jobMs: 150 };
  const workers = [1, 2, 3, 4].map(() => startWorker(place, settings));
  await Promise.all(workers.map((worker) => worker.line((line) => line === 'open')));
  let restarts = 0;
  while ((await readProgress(place)).open > 0) {
    await sleep(700);
    if (restarts++ < 4) await server.restart();
  }
  const { failed } = await readProgress(place);
  expect(failed).toBe(0);
  const takeovers = await expectEveryResultOnce(place, DAG);
  console.log(`${restarts} restarts, ${takeovers} takeovers`);
  for (const worker of workers) worker.child.kill('SIGTERM');
  expect(await Promise.all(workers.map((worker) => worker.ended))).toEqual([0, 0, 0, 0]);
});
