import { expect, test } from 'vitest';
import { elapsedMs } from './clock.ts';
import { Trace, timed } from './trace.ts';

type ChromeEvent = { name: string; ph: string; ts: number; dur: number; tid: number };
const eventsOf = (trace: Trace) =>
  (JSON.parse(trace.toChromeJson()) as { traceEvents: ChromeEvent[] }).traceEvents;

test('spans become complete events of the Chrome format, in microseconds', async () => {
  const trace = new Trace();
  const result = await timed(trace, 'load', 'job 1', () => 'what was loaded');
  expect(result).toBe('what was loaded');
  const [event] = eventsOf(trace);
  expect(event).toMatchObject({ name: 'load', ph: 'X', pid: 1, tid: 1 });
  expect(event!.ts).toBeGreaterThanOrEqual(0);
  expect(event!.dur).toBeGreaterThanOrEqual(0);
});

test('lines that overlap are drawn in rows of their own, others share one', () => {
  const trace = new Trace();
  const now = elapsedMs();
  trace.add('first', 'a', now - 100);
  trace.add('beside it', 'b', now - 50);
  trace.add('inside of it', 'a', now - 20);
  expect(eventsOf(trace).map(({ tid }) => tid)).toEqual([1, 2, 1]);
});

test('work that fails is noted, too', async () => {
  const trace = new Trace();
  const failing = timed(trace, 'save', 'a', () => Promise.reject(new Error('no room')));
  await expect(failing).rejects.toThrow('no room');
  expect(trace.summarise()).toMatchObject([{ name: 'save', count: 1 }]);
});

test('the sums have the longest cause first', () => {
  const trace = new Trace();
  const now = elapsedMs();
  trace.add('short', 'a', now - 10);
  trace.add('long', 'b', now - 500);
  trace.add('long', 'c', now - 300);
  const [first, second] = trace.summarise();
  expect(first).toMatchObject({ name: 'long', count: 2 });
  expect(first!.totalMs).toBeGreaterThanOrEqual(800);
  expect(first!.longestMs).toBeGreaterThanOrEqual(500);
  expect(second).toMatchObject({ name: 'short', count: 1 });
});
