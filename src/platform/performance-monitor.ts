import { elapsedMs } from './clock.ts';

/** How long an operation took, of the last ones that were measured. */
export type Latency = { readonly count: number; readonly p50Ms: number; readonly p95Ms: number };
/** How often something was there already. */
export type HitRate = { readonly hits: number; readonly misses: number };

/** What a monitor has measured, by the names that its callers gave. */
export type Measured = {
  readonly latencies: Readonly<Record<string, Latency>>;
  readonly rates: Readonly<Record<string, HitRate>>;
};

/** A percentile tells of the last so many. */
const KEPT = 512;

/** Measures work in this process, cheaply enough for every call of it. */
export class PerformanceMonitor {
  readonly #times = new Map<string, { readonly last: number[]; count: number }>();
  readonly #rates = new Map<string, HitRate>();

  /** Notes how long an operation took. */
  observe(operation: string, ms: number): void {
    const known = this.#times.get(operation) ?? { last: [], count: 0 };
    known.last[known.count % KEPT] = ms;
    known.count += 1;
    this.#times.set(operation, known);
  }

  /** Does the work and notes how long it took, also where it fails. */
  async time<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const startedMs = elapsedMs();
    try {
      return await work();
    } finally {
      this.observe(operation, elapsedMs() - startedMs);
    }
  }

  /** Notes how often something was there already, and how often not. */
  count(reuse: string, hits: number, misses: number): void {
    const known = this.#rates.get(reuse) ?? { hits: 0, misses: 0 };
    this.#rates.set(reuse, { hits: known.hits + hits, misses: known.misses + misses });
  }

  /** What was measured since the last time that this was asked for. */
  take(): Measured {
    const measured = {
      latencies: Object.fromEntries(
        [...this.#times].map(([name, time]) => [name, latencyOf(time)]),
      ),
      rates: Object.fromEntries(this.#rates),
    };
    this.#times.clear();
    this.#rates.clear();
    return measured;
  }
}

function latencyOf({ last, count }: { readonly last: readonly number[]; count: number }): Latency {
  const sorted = last.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count, p50Ms: at(0.5), p95Ms: at(0.95) };
}

/** The monitor of this process. */
export const monitor = new PerformanceMonitor();
