import type { HitRate, Latency, Measured } from '../platform/performance-monitor.ts';
import type { AdaptedSettings } from './adapt-settings.ts';

/** What takes time in the work with sources. */
const OPERATIONS = ['fetch', 'register', 'audit', 'search'] as const;
/** What may be there already, and then is not done again. */
const REUSES = ['source_cache', 'embeddings', 'compression', 'duplicates'] as const;

/** What was measured of the work with sources, to be shown and stored. */
export type Metrics = {
  readonly latencies: Readonly<Record<(typeof OPERATIONS)[number], Latency>>;
  readonly rates: Readonly<Record<(typeof REUSES)[number], HitRate>>;
  /** What follows from it. */
  readonly settings: AdaptedSettings;
};

const NO_LATENCY: Latency = { count: 0, p50Ms: 0, p95Ms: 0 };
const NO_RATE: HitRate = { hits: 0, misses: 0 };

const byName = <Name extends string, Value>(
  names: readonly Name[],
  read: (name: Name) => Value,
): Record<Name, Value> =>
  Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, Value>;

/** What a process has measured, with what it or an earlier release did not measure. */
export const completeMeasured = ({ latencies, rates }: Measured): Omit<Metrics, 'settings'> => ({
  latencies: byName(OPERATIONS, (name) => latencies[name] ?? NO_LATENCY),
  rates: byName(REUSES, (name) => rates[name] ?? NO_RATE),
});

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
    return now.count === 0 ? before : { ...now, count: before.count + now.count };
  }),
  rates: byName(REUSES, (name) => {
    const [before, now] = [earlier.rates[name], later.rates[name]];
    return { hits: before.hits + now.hits, misses: before.misses + now.misses };
  }),
});

/** Whether anything was measured. */
export const isMeasured = ({ latencies, rates }: Omit<Metrics, 'settings'>): boolean =>
  Object.values(latencies).some(({ count }) => count > 0) ||
  Object.values(rates).some(({ hits, misses }) => hits + misses > 0);
