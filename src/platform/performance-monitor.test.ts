import { expect, test } from 'vitest';
import { PerformanceMonitor } from './performance-monitor.ts';

test('a monitor tells percentiles of the last measurements, and begins anew when it is read', () => {
  const monitor = new PerformanceMonitor();
  for (let ms = 1; ms <= 100; ms++) monitor.observe('fetch', ms);
  monitor.count('duplicates', 1, 3);
  const { latencies, rates } = monitor.take();
  expect(latencies['fetch']).toEqual({ count: 100, p50Ms: 51, p95Ms: 96 });
  expect(rates['duplicates']).toEqual({ hits: 1, misses: 3 });
  expect(monitor.take().latencies['fetch']).toBeUndefined();
});

test('of many measurements the last ones count, in bounded memory', () => {
  const monitor = new PerformanceMonitor();
  for (let at = 0; at < 10_000; at++) monitor.observe('search', at < 9_000 ? 1_000 : 2);
  expect(monitor.take().latencies['search']).toEqual({ count: 10_000, p50Ms: 2, p95Ms: 2 });
});

test('what fails is measured, too', async () => {
  const monitor = new PerformanceMonitor();
  const failing = monitor.time('fetch', () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(monitor.take().latencies['fetch']?.count).toBe(1);
});
