import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Worker } from '../../src/jobs/worker.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('an idle worker', (kind) => {
  test('asks at most twice a second and starts new work on a hint', async () => {
    const database = await openTestStore(kind);
    const { tenantId } = await newTenant(database);
    const run = await Bench.open(database, tenantId);
    let started = 0;
    const handlers = {
      EXECUTE: async () => {
        started = performance.now();
      },
    };
    const worker = new Worker({ database, handlers, log: () => {} });
    await worker.start();
    await sleep(500);
    const acquire = vi.spyOn(database.driver, 'acquire');
    await sleep(3_000);
    const perSecond = acquire.mock.calls.length / 3;
    acquire.mockRestore();

    const waits: number[] = [];
    for (let n = 0; n < 20; n++) {
      started = 0;
      const before = performance.now();
      await run.enqueue(named(`job-${n}`));
      const committed = performance.now();
      while (started === 0) await sleep(1);
      waits.push(Math.max(0, started - committed));
      expect(started).toBeGreaterThan(before);
      await sleep(30);
    }
    await worker.stop();
    const median = waits.toSorted((a, b) => a - b)[10]!;
    console.log(
      `${kind}: ${perSecond.toFixed(1)} queries/s, wakes in ${median.toFixed(1)} ms (p50)`,
    );
    expect(perSecond).toBeLessThanOrEqual(2);
  });
});
