import type { Database } from '../db/database.ts';

/** How many jobs with a concurrency key may run at once, over all workers. */
export type ConcurrencyLimits = Readonly<Record<string, number>>;

/**
 * Writes the limits of a configuration for every tenant that has sessions. Limits that it does not
 * name are lifted: the worker that started last decides.
 */
export async function writeLimits(database: Database, limits: ConcurrencyLimits): Promise<void> {
  const values = [Object.keys(limits), Object.values(limits)];
  await database.asWorker(async (tx) => {
    // Workers that start together write one after another.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('concurrency_limits', 2))`);
    await tx.query('delete from concurrency_limits where not key = any ($1::text[])', [values[0]]);
    await tx.query(
      `insert into concurrency_limits (tenant_id, key, max_running)
       select t.tenant_id, l.key, l.max_running
       from (select distinct tenant_id from sessions) as t
       cross join unnest($1::text[], $2::int[]) as l (key, max_running)
       order by 1, 2
       on conflict (tenant_id, key) do update set max_running = excluded.max_running`,
      values,
    );
  });
}
