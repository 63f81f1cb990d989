import { expect, test } from 'vitest';
import { PerformanceMonitor } from '../platform/performance-monitor.ts';
import { addMeasured, completeMeasured } from './metrics.ts';

test('measurements of processes add up; the last latency holds', () => {
  const [first, second] = [new PerformanceMonitor(), new PerformanceMonitor()];
  first.observe('audit', 10);
  first.count('embeddings', 2, 1);
  second.observe('audit', 2);
  second.count('embeddings', 1, 0);
  const both = addMeasured(completeMeasured(first.take()), completeMeasured(second.take()));
  expect(both.latencies.audit).toEqual({ count: 2, p50Ms: 2, p95Ms: 2 });
  expect(both.rates.embeddings).toEqual({ hits: 3, misses: 1 });
  const none = completeMeasured(new PerformanceMonitor().take());
  expect(none.latencies.audit).toEqual({ count: 0, p50Ms: 0, p95Ms: 0 });
  expect(addMeasured(both, none)).toEqual(both);
});
