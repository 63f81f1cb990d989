import { toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { adapter } from '../sources/adapt-settings.ts';
import { completeMeasured, isMeasured, type Metrics } from '../sources/metrics.ts';
import { readPerformance, savePerformance } from '../sources/performance.ts';
import type { Store } from './store.ts';

type Place = Pick<Store, 'database' | 'tenantId'>;

/** Goes on with the settings that earlier processes have come to. */
export async function resumeSettings({ database, tenantId }: Place): Promise<void> {
  const stored = await database.asTenant(tenantId, readPerformance);
  if (stored) adapter.resume(stored.settings);
}

/** Stores what this process has measured since the last time, and returns all that is known. */
export async function readMetrics({ database, tenantId }: Place): Promise<Metrics> {
  const metrics = { ...completeMeasured(monitor.take()), settings: adapter.settings };
  // A command that works on no run has not taken up what earlier processes have come to.
  const keepsSettings = adapter.isUsual;
  return database.asTenant(tenantId, async (tx) =>
    isMeasured(metrics)
      ? savePerformance(tx, metrics, { keepsSettings })
      : ((await readPerformance(tx)) ?? metrics),
  );
}

/** The same where nobody reads it; while the store is away, what was measured is let go. */
export async function storeMetrics(place: Place): Promise<void> {
  try {
    await readMetrics(place);
  } catch (thrown) {
    if (!isPassing(toDialecticError(thrown))) throw thrown;
  }
}
