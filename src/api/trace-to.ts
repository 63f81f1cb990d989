import type { Database } from '../db/database.ts';
import { replaceText } from '../platform/safe-writes.ts';
import { Trace, type TraceRow } from '../platform/trace.ts';

/** The trace that was asked for is in its file; `waits` are its sums by cause. */
export type TraceEvent = {
  readonly kind: 'trace-written';
  readonly file: string;
  readonly waits: readonly TraceRow[];
};

type Tracing = {
  /** Absent where no trace is wanted. */
  readonly trace: Trace | undefined;
  /** Writes the file and tells of it. */
  readonly end: () => Promise<TraceEvent[]>;
};

/** Takes a trace of what a worker does with a store until its end, if a file for it is named. */
export function traceTo(database: Database, file: string | undefined): Tracing {
  if (file === undefined) return { trace: undefined, end: async () => [] };
  const trace = new Trace();
  database.trace = trace;
  return {
    trace,
    end: async () => {
      database.trace = undefined;
      await replaceText(file, trace.toChromeJson());
      return [{ kind: 'trace-written', file, waits: trace.summarise() }];
    },
  };
}
