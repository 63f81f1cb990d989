import { expect, test } from 'vitest';
import { describeTrace } from './trace-text.ts';

test('a trace is told as a table of its causes', () => {
  const waits = [
    { name: 'call', count: 3, totalMs: 6_120, medianMs: 2_040, longestMs: 2_050 },
    { name: 'load', count: 3, totalMs: 24, medianMs: 8, longestMs: 9 },
  ];
  expect(describeTrace({ kind: 'trace-written', file: 'run.json', waits })).toEqual([
    'Where the time went (steps of jobs overlap); open run.json in ui.perfetto.dev:',
    'cause   times     in all     median    longest',
    'call        3     6.12 s  2040.0 ms  2050.0 ms',
    'load        3     0.02 s     8.0 ms     9.0 ms',
  ]);
});
