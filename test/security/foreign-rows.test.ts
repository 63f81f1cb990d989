import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { JobHandlers } from '../../src/jobs/context.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { newId } from '../../src/platform/ids.ts';
import { withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const MOST_INT = 2_147_483_647;
const MOST_BIGINT = '9223372036854775807';

type Columns = Readonly<Record<string, string | number>>;

/** A job whose worker is gone. */
const ABANDONED: Columns = { status: 'processing', lease_until: '2020-01-01' };

/** Numbers and times that a tenant may write into its own rows, at the ends of their types. */
const GREATEST: readonly Columns[] = [
  { ...ABANDONED, takeovers: MOST_INT },
  { ...ABANDONED, takeovers: MOST_INT, attempt: MOST_INT },
  { ...ABANDONED, takeovers: -MOST_INT - 1, attempt: -MOST_INT - 1 },
  { ...ABANDONED, takeovers: MOST_INT, stage_run_id: 'of the greatest version' },
  { ...ABANDONED, lease_until: '-infinity' },
  { status: 'pending', attempt: MOST_INT },
  { status: 'pending', run_after: '-infinity' },
];

describeOnBoth('rows of one tenant at the ends of their types', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  async function insert(tenantId: string, rows: readonly Columns[]): Promise<string> {
    const [sessionId, runId] = [newId(), newId()];
    await database.asTenant(tenantId, async (tx) => {
      await tx.query('insert into sessions (tenant_id, id) values ($1, $2)', [tenantId, sessionId]);
      await tx.query(
        `insert into stage_runs (tenant_id, id, session_id, iteration, stage_key, version)
         values ($1, $2, $3, 1, 'thesis', $4)`,
        [tenantId, runId, sessionId, MOST_BIGINT],
      );
      for (const row of rows) {
        const id = newId();
        const lease = row['status'] === 'processing' && {
          worker_id: newId(),
          lease_token: newId(),
        };
        const key = { tenant_id: tenantId, id, session_id: sessionId, chain_id: id };
        const run = 'stage_run_id' in row && { stage_run_id: runId };
        const all = { job_type: 'EXECUTE', ...key, ...lease, ...row, ...run };
        const places = Object.keys(all).map((_, at) => `$${at + 1}`);
        await tx.query(
          `insert into jobs (${Object.keys(all).join()}) values (${places.join()})`,
          Object.values(all),
        );
      }
    });
    return sessionId;
  }

  const statuses = (tenantId: string, sessionId: string) =>
    database.asTenant(tenantId, async (tx) => {
      const text = 'select status from jobs where session_id = $1 order by seq';
      return (await tx.query<{ status: string }>(text, [sessionId])).map(({ status }) => status);
    });

  test.each(['succeed', 'fail'] as const)(
    'hold up neither the jobs of others nor each other, where jobs %s',
    async (how) => {
      const [one, other] = [await newTenant(database), await newTenant(database)];
      const odd = await insert(one.tenantId, GREATEST);
      const good = await insert(other.tenantId, [ABANDONED, { status: 'pending' }]);
      const handlers: JobHandlers = {
        EXECUTE: async ({ job }) => {
          if (how === 'fail' && job.tenantId === one.tenantId) throw new Error('as asked');
        },
      };
      const settings = { ...DEFAULT_JOB_SETTINGS, maxAttempts: 1 };
      const logged: string[] = [];
      const log = (line: string) => void logged.push(line);
      await withWorker(
        database,
        handlers,
        async () => {
          const rest = { interval: 50, timeout: 10_000 };
          await expect
            .poll(() => statuses(other.tenantId, good), rest)
            .toEqual(['completed', 'completed']);
          const ended = how === 'fail' ? 'failed' : 'completed';
          await expect
            .poll(() => statuses(one.tenantId, odd), rest)
            .toEqual(['failed', 'failed', ended, 'failed', ended, ended, ended]);
        },
        { settings, log },
      );
      expect(logged).toEqual([]);
    },
  );
});
