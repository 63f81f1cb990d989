import { expect, test } from 'vitest';
import { addMeasured, PerformanceMonitor } from './performance-monitor.ts';

test('a monitor tells percentiles of the last measurements, and begins anew when it is read', () => {
  const monitor = new PerformanceMonitor();
  for (let ms = 1; ms <= 100; ms++) monitor.observe('fetch', ms);
  monitor.count('duplicates', 1, 3);
  const { latencies, rates } = monitor.take();
  expect(latencies.fetch).toEqual({ count: 100, p50Ms: 51, p95Ms: 96 });
  expect(latencies.audit).toEqual({ count: 0, p50Ms: 0, p95Ms: 0 });
  expect(rates.duplicates).toEqual({ hits: 1, misses: 3 });
  expect(monitor.take().latencies.fetch.count).toBe(0);
});

test('of many measurements the last ones count, in bounded memory', () => {
  const monitor = new PerformanceMonitor();
  for (let at = 0; at < 10_000; at++) monitor.observe('search', at < 9_000 ? 1_000 : 2);
  expect(monitor.take().latencies.search).toEqual({ count: 10_000, p50Ms: 2, p95Ms: 2 });
});

test('what fails is measured, too', async () => {
  const monitor = new PerformanceMonitor();
  const failing = monitor.time('fetch', () => Promise.reject(new Error('gone')));
  await expect(failing).rejects.toThrow('gone');
  expect(monitor.take().latencies.fetch.count).toBe(1);
});

test('measurements of processes add up; the last latency holds', () => {
  const [first, second] = [new PerformanceMonitor(), new PerformanceMonitor()];
  first.observe('audit', 10);
  first.count('embeddings', 2, 1);
  second.observe('audit', 2);
  second.count('embeddings', 1, 0);
  const both = addMeasured(first.take(), second.take());
  expect(both.latencies.audit).toEqual({ count: 2, p50Ms: 2, p95Ms: 2 });
  expect(both.rates.embeddings).toEqual({ hits: 3, misses: 1 });
  expect(addMeasured(both, new PerformanceMonitor().take())).toEqual(both);
});
