import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { createSession } from '../../src/jobs/sessions.ts';
import { newId } from '../../src/platform/ids.ts';
import type { PostgresServer } from '../../test/postgres-server.ts';
import { BATCH_SIZE } from './engine.ts';

const CLAIMS = 100;
const FINISHED_IN_A_SESSION = 1000;
const OPEN_SESSIONS = 4;
const tenantId = LOCAL_TENANT;

/**
 * The median milliseconds of a claim of 50 jobs, for each number of finished jobs in the table. The
 * databases take turns, so that whatever else the machine does hits all alike.
 */
export async function measureClaims(server: PostgresServer, sizes: readonly number[]) {
  const databases: Database[] = [];
  for (const finished of sizes) {
    const url = await server.createDatabase(`claims_${finished}`);
    const database = await openDatabase({ databaseUrl: url });
    await ensureLocalTenant(database);
    await fillWithFinished(database, finished);
    await enqueueOpen(database, CLAIMS * BATCH_SIZE);
    await analyze(database);
    databases.push(database);
  }
  const times = sizes.map((): number[] => []);
  for (let turn = 0; turn < CLAIMS; turn++) {
    for (const [index, database] of databases.entries()) {
      const started = performance.now();
      const jobs = await claimJobs(database, newId(), BATCH_SIZE, 30_000, 'leases');
      times[index]!.push(performance.now() - started);
      if (jobs.length !== BATCH_SIZE) throw new Error(`A claim took ${jobs.length} jobs.`);
    }
  }
  for (const database of databases) await database.close();
  return times.map((list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!);
}

/** Rows as a long life of the store leaves them; put in without triggers, which take hours. */
async function fillWithFinished(database: Database, count: number): Promise<void> {
  await database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into sessions (tenant_id, id, status)
       select $1, gen_random_uuid(), 'completed' from generate_series(1, $2::int)`,
      [tenantId, Math.ceil(count / FINISHED_IN_A_SESSION)],
    );
    await tx.query(
      `insert into jobs (tenant_id, id, chain_id, session_id, job_type, status, payload,
         created_at, started_at, finished_at)
       select $1, id, id, session_id, 'EXECUTE', 'completed', '{"document": "business_case"}',
         now(), now(), now()
       from (select gen_random_uuid() as id, s.id as session_id
         from sessions s, generate_series(1, $2::int)
         where s.status = 'completed' limit $3::int) as finished`,
      [tenantId, FINISHED_IN_A_SESSION, count],
    );
  });
}

async function enqueueOpen(database: Database, count: number): Promise<void> {
  await database.asTenant(tenantId, async (tx) => {
    for (let n = 0; n < OPEN_SESSIONS; n++) {
      const sessionId = await createSession(tx);
      const job = { sessionId, type: 'EXECUTE' as const, payload: {} };
      await enqueueJobs(
        tx,
        Array.from({ length: count / OPEN_SESSIONS }, () => job),
      );
    }
  });
}

/** What autovacuum does by itself a minute later. */
async function analyze(database: Database): Promise<void> {
  const { client, release } = await database.driver.acquire();
  await client.query('vacuum analyze jobs');
  await client.query('checkpoint');
  release();
}
