import { describe, expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

describe('createConcurrencyLimit', () => {
  test('never runs more at once than there are places, and runs all in order', async () => {
    const limit = createConcurrencyLimit(3);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const work = async (n: number): Promise<void> => {
      order.push(n);
      most = Math.max(most, ++running);
      await later();
      running--;
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => limit.run(() => work(n))));
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  test('work that throws frees its place', async () => {
    const limit = createConcurrencyLimit(1);
    await expect(limit.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(limit.run(() => Promise.resolve('yes'))).resolves.toBe('yes');
  });

  test('who gives up while waiting neither runs nor keeps a place', async () => {
    const limit = createConcurrencyLimit(1);
    const first = limit.run(later);
    const stop = new AbortController();
    const second = limit.run(() => Promise.reject(new Error('ran')), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(second).rejects.toThrow('stopped');
    await first;
    await expect(limit.run(() => Promise.resolve(1))).resolves.toBe(1);
  });
});
