import type { Measurement } from '../frame.ts';

/** Times each of many calls, in microseconds. */
export function timeEach(count: number, work: (at: number) => void): Float64Array {
  const times = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const started = process.hrtime.bigint();
    work(at);
    times[at] = Number(process.hrtime.bigint() - started) / 1000;
  }
  return times;
}

export const quantile = (values: Float64Array, share: number): number =>
  values.toSorted()[Math.floor(values.length * share)] ?? 0;

/** A row of the table. */
export const row = (metric: string, subject: string, value: number, unit: string): Measurement => ({
  metric,
  subject,
  value,
  unit,
});

/** The most memory that this process had at any time, in megabytes. */
export const peakMegabytes = (): number => process.resourceUsage().maxRSS / 1024;
