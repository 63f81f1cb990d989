import { elapsedMs } from './clock.ts';

/** What takes time in the work with sources. */
const OPERATIONS = ['fetch', 'register', 'audit', 'search'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What may be there already, and then is not done again. */
const REUSES = ['source_cache', 'embeddings', 'compression', 'duplicates'] as const;
export type Reuse = (typeof REUSES)[number];

/** How long an operation took, of the last ones that were measured. */
export type Latency = { readonly count: number; readonly p50Ms: number; readonly p95Ms: number };
/** How often something was there already. */
export type HitRate = { readonly hits: number; readonly misses: number };

/** What follows from the measurements: both are changed by the rules in adapt-settings.ts. */
export type AdaptedSettings = {
  /** So many characters of source texts does a process keep in memory. */
  readonly cacheCharacters: number;
  /** So many characters of source texts does a prompt show; beyond that they are shown by level. */
  readonly textCharacters: number;
};

/** The state of a monitor, to be shown and stored. */
export type Metrics = {
  readonly latencies: Readonly<Record<Operation, Latency>>;
  readonly rates: Readonly<Record<Reuse, HitRate>>;
  readonly settings: AdaptedSettings;
};

/** A percentile tells of the last so many. */
const KEPT = 512;

/** Measures the work with sources in this process, cheaply enough for every call of it. */
export class PerformanceMonitor {
  readonly #times = new Map<Operation, { readonly last: number[]; count: number }>();
  readonly #rates = new Map<Reuse, { hits: number; misses: number }>();

  /** Notes how long an operation took. */
  observe(operation: Operation, ms: number): void {
    const known = this.#times.get(operation) ?? { last: [], count: 0 };
    known.last[known.count % KEPT] = ms;
    known.count += 1;
    this.#times.set(operation, known);
  }

  /** Does the work and notes how long it took, also where it fails. */
  async time<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const startedMs = elapsedMs();
    try {
      return await work();
    } finally {
      this.observe(operation, elapsedMs() - startedMs);
    }
  }

  /** Notes how often something was there already, and how often not. */
  count(reuse: Reuse, hits: number, misses: number): void {
    const known = this.#rates.get(reuse) ?? { hits: 0, misses: 0 };
    this.#rates.set(reuse, { hits: known.hits + hits, misses: known.misses + misses });
  }

  /** What was measured since the last time that this was asked for. */
  take(): Omit<Metrics, 'settings'> {
    const metrics = {
      latencies: byName(OPERATIONS, (name) => this.#latencyOf(name)),
      rates: byName(REUSES, (name) => this.#rates.get(name) ?? NO_RATE),
    };
    this.#times.clear();
    this.#rates.clear();
    return metrics;
  }

  #latencyOf(operation: Operation): Latency {
    const { last = [], count = 0 } = this.#times.get(operation) ?? {};
    const sorted = last.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { count, p50Ms: at(0.5), p95Ms: at(0.95) };
  }
}

const NO_RATE: HitRate = { hits: 0, misses: 0 };

const byName = <Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value,
): Record<Name, Value> =>
  Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, Value>;

/**
 * Earlier measurements with later ones: counts add up; of two latencies the later one holds, which
 * tells how it is now.
 */
export const addMeasured = (
  earlier: Omit<Metrics, 'settings'>,
  later: Omit<Metrics, 'settings'>,
): Omit<Metrics, 'settings'> => ({
  latencies: byName(OPERATIONS, (name) => {
    const [before, now] = [earlier.latencies[name], later.latencies[name]];
    if (now.count === 0) return before ?? now;
    return { ...now, count: (before?.count ?? 0) + now.count };
  }),
  rates: byName(REUSES, (name) => {
    const [before, now] = [earlier.rates[name] ?? NO_RATE, later.rates[name]];
    return { hits: before.hits + now.hits, misses: before.misses + now.misses };
  }),
});

/** Whether anything was measured. */
export const isMeasured = ({ latencies, rates }: Omit<Metrics, 'settings'>): boolean =>
  Object.values(latencies).some(({ count }) => count > 0) ||
  Object.values(rates).some(({ hits, misses }) => hits + misses > 0);

/** The monitor of this process. */
export const monitor = new PerformanceMonitor();
