import { elapsedMs } from './clock.ts';

/** A stretch of time in this process, on a clock that only grows. */
type Span = {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  /** What it belongs to, such as a job; spans of one line lie inside of each other or follow. */
  readonly line: string;
  readonly details?: Readonly<Record<string, unknown>>;
};

/** How often something was waited for in a trace, and how long. */
export type TraceRow = {
  readonly name: string;
  readonly count: number;
  readonly totalMs: number;
  readonly medianMs: number;
  readonly longestMs: number;
};

/** Where the time of a run goes, kept in memory while it is asked for. */
export class Trace {
  readonly #spans: Span[] = [];
  readonly #startedMs = elapsedMs();
  #lines = 0;

  add(name: string, line: string, startMs: number, details?: Span['details']): void {
    const span = { name, line, startMs, endMs: elapsedMs() };
    this.#spans.push(details ? { ...span, details } : span);
  }

  /** A line for what belongs to nothing else. */
  newLine(): string {
    this.#lines += 1;
    return `${this.#lines}`;
  }

  /** The waits by cause, the longest in all first; they overlap, so they do not add up to the run. */
  summarise(): TraceRow[] {
    const rows = [...Map.groupBy(this.#spans, ({ name }) => name)].map(([name, spans]) => {
      const times = spans.map(({ startMs, endMs }) => endMs - startMs).toSorted((a, b) => a - b);
      return {
        name,
        count: times.length,
        totalMs: times.reduce((sum, ms) => sum + ms, 0),
        medianMs: times[Math.floor(times.length / 2)] ?? 0,
        longestMs: times.at(-1) ?? 0,
      };
    });
    return rows.toSorted((a, b) => b.totalMs - a.totalMs);
  }

  /** The Chrome trace format, which chrome://tracing and ui.perfetto.dev show. */
  toChromeJson(): string {
    const threads = this.#arrange();
    const events = this.#spans.map(({ name, line, startMs, endMs, details }) => ({
      name,
      cat: 'dialectic',
      ph: 'X',
      ts: Math.round((startMs - this.#startedMs) * 1000),
      dur: Math.round((endMs - startMs) * 1000),
      pid: 1,
      tid: threads.get(line),
      ...(details && { args: details }),
    }));
    return JSON.stringify({ traceEvents: events, displayTimeUnit: 'ms' });
  }

  /** Lines that do not overlap share a row of the drawing, so that it is as high as is needed. */
  #arrange(): Map<string, number> {
    const lines = [...Map.groupBy(this.#spans, ({ line }) => line)].map(([line, spans]) => ({
      line,
      startMs: Math.min(...spans.map((span) => span.startMs)),
      endMs: Math.max(...spans.map((span) => span.endMs)),
    }));
    const ends: number[] = [];
    const threads = new Map<string, number>();
    for (const { line, startMs, endMs } of lines.toSorted((a, b) => a.startMs - b.startMs)) {
      const free = ends.findIndex((end) => end <= startMs);
      const row = free === -1 ? ends.length : free;
      ends[row] = endMs;
      threads.set(line, row + 1);
    }
    return threads;
  }
}

/** Does some work, and notes in the trace, if one is taken, how long it took. */
export async function timed<T>(
  trace: Trace | undefined,
  name: string,
  line: string,
  work: () => T | Promise<T>,
): Promise<T> {
  if (!trace) return work();
  const startMs = elapsedMs();
  try {
    return await work();
  } finally {
    trace.add(name, line, startMs);
  }
}
