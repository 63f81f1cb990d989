import { expect, test } from 'vitest';
import { resume } from '../../src/api/steer-run.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { configFor, startDebate } from '../wallet/sessions.ts';

const countWaiting = async (tx: AnyTransaction): Promise<number> => {
  // A transaction sees the statistics as they were when it first asked.
  await tx.query('select pg_stat_clear_snapshot()');
  const rows = await tx.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
};

test('a resume that is the victim of a deadlock is made again', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const { sessionId } = await startDebate(database, tenantId, 1);
  const store = {
    database,
    tenantId,
    models: configFor(''),
    jobs: DEFAULT_JOB_SETTINGS,
    log: () => {},
    closing: new AbortController().signal,
  };
  const countDeadlocks = () =>
    database.transaction({ as: 'owner' }, async (tx) => {
      await tx.query('select pg_stat_force_next_flush()');
      const { deadlocks } = await tx.queryOne<{ deadlocks: number }>(
        `select deadlocks::int from pg_stat_database where datname = current_database()`,
      );
      return deadlocks;
    });
  const before = await countDeadlocks();
  const locked = Promise.withResolvers<void>();
  const other = database.transaction({ as: 'owner' }, async (tx) => {
    // It looks for deadlocks later than the resume, which then is the victim.
    await tx.query(`set local deadlock_timeout = '20s'`);
    await tx.query('select 1 from stage_runs where session_id = $1 for update', [sessionId]);
    locked.resolve();
    // The resume holds the session by then, and waits for the stage run.
    await expect.poll(() => countWaiting(tx), { interval: 5 }).toBe(1);
    await tx.query('select 1 from sessions where id = $1 for update', [sessionId]);
  });
  await locked.promise;
  await resume(store, sessionId, {});
  await other;
  await expect.poll(countDeadlocks, { timeout: 10_000 }).toBe(before + 1);
}, 30_000);
