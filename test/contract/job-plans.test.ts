import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';
import { insertJobs } from '../../src/jobs/enqueue.ts';
import { createSession } from '../../src/jobs/sessions.ts';
import type { NewJob } from '../../src/jobs/types.ts';
import { newId } from '../../src/platform/ids.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const FINISHED = 1_500;
const BATCH = 40;
const OPEN = 400;
/** A row is read a few times on its way: by its index, for its lock, by a trigger. */
const READS_A_JOB = 8;

/** PL/pgSQL keeps the plans of its first calls, which see an empty table. */
const CALLS_UNTIL_PLANS_ARE_KEPT = 7;

describeOnBoth('beside many finished jobs of the same session', (kind) => {
  let database: Database;
  let tenantId: string;
  let sessionId: string;
  let parentId: string;
  beforeAll(async () => {
    database = await openTestStore(kind, { connections: 1 });
    ({ tenantId } = await newTenant(database));
    await database.asTenant(tenantId, async (tx) => {
      sessionId = await createSession(tx);
      const root = { sessionId, type: 'PLAN' as const, payload: {} };
      [parentId = ''] = await insertJobs(tx, [root]);
    });
    await claim(1);
    for (let call = 0; call < CALLS_UNTIL_PLANS_ARE_KEPT; call++) {
      await insert(2);
      await complete(2, await claim(2));
    }
    await insert(FINISHED);
    await complete(FINISHED, await claim(FINISHED));
  });

  /** Rows of jobs that the connection read, less what it has handed to the statistics already. */
  const countReads = async (tx: AnyTransaction): Promise<number> => {
    const { reads } = await tx.queryOne<{ reads: number }>(
      `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as reads
       from pg_stat_xact_user_tables where relname = 'jobs'`,
    );
    return reads;
  };
  /** What `work` gives, and how many rows of jobs it read. */
  async function watch<Tx extends AnyTransaction, T>(tx: Tx, work: (tx: Tx) => Promise<T>) {
    const before = await countReads(tx);
    const result = await work(tx);
    return { result, reads: (await countReads(tx)) - before };
  }
  const insert = (count: number, under = parentId) => {
    const child: NewJob = {
      sessionId,
      parentId: under,
      type: 'EXECUTE',
      stepKey: 's',
      payload: {},
    };
    const children = Array.from({ length: count }, () => child);
    return database.asTenant(tenantId, (tx) => watch(tx, () => insertJobs(tx, children)));
  };
  const claim = (count: number) =>
    database.asWorker((tx) =>
      watch(tx, () =>
        tx.query<{ id: string; lease_token: string }>(
          `select id, lease_token from claim_jobs($1, $2, '30 s', null, null)`,
          [newId(), count],
        ),
      ),
    );
  const complete = async (count: number, { result }: Awaited<ReturnType<typeof claim>>) => {
    const values = [
      [tenantId],
      result.map(({ id }) => id),
      result.map(({ lease_token }) => lease_token),
    ];
    const ended = await database.asWorker((tx) =>
      watch(tx, () => tx.query('select complete_jobs($1, $2, $3)', values)),
    );
    expect(ended.result).toHaveLength(count);
    return ended;
  };

  test('inserting, claiming and completing read the rows they change and few others', async () => {
    const inserted = await insert(BATCH);
    const claimed = await claim(BATCH);
    const completed = await complete(BATCH, claimed);
    const most = BATCH * READS_A_JOB;
    expect(inserted.reads).toBeLessThan(most);
    expect(claimed.reads).toBeLessThan(most);
    expect(completed.reads).toBeLessThan(most);
  });

  test('a parent begins to wait and goes on without a look at the open jobs of others', async () => {
    await insert(BATCH);
    const [other = ''] = await database.asTenant(tenantId, (tx) =>
      insertJobs(tx, [{ sessionId, type: 'PLAN', payload: {} }]),
    );
    await insert(OPEN, other);
    const waiting = await database.asWorker((tx) =>
      watch(tx, () =>
        tx.query(
          `update jobs set status = 'waiting_for_children' where tenant_id = $1 and id = $2
           returning 1`,
          [tenantId, parentId],
        ),
      ),
    );
    const completed = await complete(BATCH, await claim(BATCH));
    const parent = await database.asTenant(tenantId, (tx) =>
      tx.query('select status from jobs where id = $1', [parentId]),
    );
    expect(waiting.result).toHaveLength(1);
    expect(waiting.reads).toBeLessThan(OPEN);
    expect(completed.reads).toBeLessThan(OPEN);
    expect(parent).toEqual([{ status: 'pending_next_step' }]);
  });
});
