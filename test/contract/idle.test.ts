import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Worker } from '../../src/jobs/worker.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const HOUR_MS = 3_600_000;

describeOnBoth('an idle worker', (kind) => {
  test('asks at most twice a second', async () => {
    const database = await openTestStore(kind);
    const worker = new Worker({ database, handlers: {}, log: () => {} });
    await worker.start();
    const acquire = vi.spyOn(database.driver, 'acquire');
    const started = performance.now();
    await expect.poll(() => acquire.mock.calls.length).toBeGreaterThanOrEqual(2);
    await sleep(1_500);
    const seconds = (performance.now() - started) / 1_000;
    // Two more: one look may be under way when the clock starts, and one when it stops.
    expect(acquire.mock.calls.length).toBeLessThanOrEqual(2 * seconds + 2);
    acquire.mockRestore();
    await worker.stop();
  });

  test('starts new work on a hint, without waiting for its next look', async () => {
    const database = await openTestStore(kind);
    const { tenantId } = await newTenant(database);
    const run = await Bench.open(database, tenantId);
    const started: string[] = [];
    const handlers = {
      EXECUTE: async ({ job }: { job: { payload: Record<string, unknown> } }) => {
        started.push(job.payload['name'] as string);
      },
    };
    const worker = new Worker({ database, handlers, pollMs: HOUR_MS, log: () => {} });
    await worker.start();
    for (const name of ['one', 'two', 'three']) {
      await run.enqueue(named(name));
      await expect.poll(() => started, { interval: 5 }).toContain(name);
    }
    await worker.stop();
  });
});
