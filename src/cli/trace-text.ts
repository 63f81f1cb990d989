import type { TraceEvent } from '../api/trace-to.ts';

export const TRACE_HELP = 'write where the time went, in the Chrome trace format';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`.padStart(11);
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`.padStart(11);

/** The sums of a trace as a table, the longest first. */
export function describeTrace({ file, waits }: TraceEvent): string[] {
  const width = Math.max(5, ...waits.map(({ name }) => name.length));
  const head = `${'cause'.padEnd(width)}  ${'times'.padStart(6)}${'in all'.padStart(11)}`;
  return [
    `Where the time went (steps of jobs overlap); open ${file} in ui.perfetto.dev:`,
    `${head}${'median'.padStart(11)}${'longest'.padStart(11)}`,
    ...waits.map(
      ({ name, count, totalMs, medianMs, longestMs }) =>
        `${name.padEnd(width)}  ${String(count).padStart(6)}${seconds(totalMs)}` +
        `${milliseconds(medianMs)}${milliseconds(longestMs)}`,
    ),
  ];
}
