import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { createSession } from '../../src/jobs/sessions.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { BATCH_SIZE, childIds, type EngineModule, STEPS } from './engine.ts';

const SESSIONS = 4;
const tenantId = LOCAL_TENANT;

/**
 * The next step of a root: what it has planned so far is in the database, as in a real run. The
 * first child of each step carries the step's key.
 */
async function planTree(database: Database, { job, commit }: JobContext): Promise<void> {
  const tree = job.payload['id'] as string;
  const keys = Array.from({ length: STEPS }, (_, index) => `${tree}/${index + 1}`);
  const planned = await database
    .readsOf(tenantId)
    .query(
      'select 1 from jobs where tenant_id = $1 and idempotency_key = any ($2)',
      [tenantId, keys],
      'planned-steps',
    );
  const step = planned.length + 1;
  if (step > STEPS) return;
  const children = childIds(tree, step).map((id, n) => ({
    type: 'EXECUTE' as const,
    stepKey: String(step),
    payload: { id },
    ...(n === 0 && { idempotencyKey: keys[step - 1]! }),
  }));
  await commit({ children, next: { waitFor: 'children' } });
}

/** This project's engine, on a server or, if the address is a folder, embedded. */
async function open(url: string, isFirst: boolean) {
  const isServer = url.startsWith('postgres://');
  const location = isServer ? { databaseUrl: url } : { dataDirectory: url };
  const database = await openDatabase(location, { backupEveryMs: 0 });
  const sessions: string[] = [];
  const roots: string[] = [];
  let worker: Worker | undefined;

  if (isFirst) {
    await ensureLocalTenant(database);
    await database.asTenant(tenantId, async (tx) => {
      for (let n = 0; n < SESSIONS; n++) {
        sessions.push(await createSession(tx));
      }
    });
  }
  return {
    startWorker: async (ran: (id: string) => void) => {
      worker = new Worker({
        database,
        concurrency: BATCH_SIZE,
        batch: BATCH_SIZE,
        handlers: {
          EXECUTE: async ({ job }) => ran(job.payload['id'] as string),
          PLAN: async (context) => {
            ran(`${context.job.payload['id'] as string}/plan`);
            await planTree(database, context);
          },
        },
      });
      await worker.start();
    },
    enqueueNoops: async (ids: readonly string[]) => {
      const jobs = ids.map((id, n) => ({
        sessionId: sessions[n % SESSIONS]!,
        type: 'EXECUTE' as const,
        payload: { id },
      }));
      await database.asTenant(tenantId, (tx) => enqueueJobs(tx, jobs));
    },
    enqueueTrees: async (ids: readonly string[]) => {
      const jobs = ids.map((id, n) => ({
        sessionId: sessions[n % SESSIONS]!,
        type: 'PLAN' as const,
        payload: { id },
      }));
      roots.push(...(await database.asTenant(tenantId, (tx) => enqueueJobs(tx, jobs))));
    },
    countOpen: async () => {
      const [row] = await database.asWorker((tx) => tx.query<{ open: number }>(OPEN, [roots]));
      return row!.open;
    },
    close: async () => {
      await worker?.stop();
      await database.close();
    },
  };
}

/** Counts along the indexes of jobs that can run or run, and the roots, which wait in between. */
const OPEN = `
  select ((select count(*) from jobs where status = 'processing')
    + (select count(*) from jobs
        where status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation'))
    + (select count(*) from jobs
        where tenant_id = '${tenantId}' and id = any ($1::uuid[]) and not is_over(status)))::int
    as open`;

export default { open } satisfies EngineModule;
