import type { Database } from '../db/database.ts';
import type { Finding } from '../db/doctor.ts';
import { listTables } from '../db/tables.ts';
import type { AnyTransaction, Transaction } from '../db/transaction.ts';
import { describeMetrics } from './describe-metrics.ts';
import { addMeasured, completeMeasured, type Metrics } from './metrics.ts';

/** What all processes have measured for a tenant, and the settings of the last; null before any. */
export async function readPerformance(tx: AnyTransaction): Promise<Metrics | null> {
  const [row] = await tx.query<{ metrics: unknown }>(
    'select metrics from performance order by measured_at desc limit 1',
  );
  return row ? completed(row.metrics as Metrics) : null;
}

/**
 * Adds what a process has measured to what is stored. Its settings take the place of the others, unless
 * it has none of its own.
 */
export async function savePerformance(
  tx: Transaction,
  metrics: Metrics,
  { keepsSettings = false }: { readonly keepsSettings?: boolean } = {},
): Promise<Metrics> {
  const [row] = await tx.query<{ metrics: unknown }>(
    'select metrics from performance where tenant_id = $1 for update',
    [tx.tenantId],
  );
  const earlier = row ? completed(row.metrics as Metrics) : null;
  const { settings } = keepsSettings && earlier ? earlier : metrics;
  const added = earlier ? { settings, ...addMeasured(earlier, metrics) } : metrics;
  await tx.query(
    `insert into performance (tenant_id, metrics) values ($1, $2)
     on conflict (tenant_id) do update
       set metrics = excluded.metrics, measured_at = excluded.measured_at`,
    [tx.tenantId, JSON.stringify(added)],
  );
  return added;
}

/** With what an earlier release did not measure. */
const completed = (stored: Metrics): Metrics => ({
  ...stored,
  ...completeMeasured(stored),
});

/** How the work with sources goes; nothing where none was done, or the store is an older one. */
export async function examinePerformance(database: Database): Promise<Finding[]> {
  if (!(await listTables(database)).includes('performance')) return [];
  const metrics = await database.transaction({ as: 'owner' }, readPerformance);
  if (metrics === null) return [];
  return [{ check: 'sources', ok: true, ...describeMetrics(metrics), details: metrics }];
}
