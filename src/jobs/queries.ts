import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { DEFAULT_JOB_SETTINGS } from './settings.ts';
import type { Job, JobError, JobRow } from './types.ts';
import { toJob } from './types.ts';

/** Ids here come from the database or from newId(); they go into text for a single round trip. */
const uuid = (id: string): string => `'${id}'::uuid`;
const uuids = (ids: readonly string[]): string => `'{${ids.join(',')}}'::uuid[]`;
const interval = (ms: number): string => `interval '${Math.round(ms)} milliseconds'`;

const QUIET = "set local dialectic.quiet = 'on'";
const FORGETTABLE = 'set local synchronous_commit = off';

/**
 * A claim that a crash of the server forgets is a job that is still there to claim. On the embedded
 * store it is synchronous: the process that dies is the store itself, and a job that ends it at
 * once would otherwise never be seen to have run.
 */
const isHurried = ({ driver }: Database): boolean => driver.kind !== 'server';

const SWEEP = 'select requeue_abandoned($1, $2, $3)';

/**
 * What a claim takes back first: jobs whose lease ran out, and with `locks` those of workers whose
 * connection is gone.
 */
export type Sweep = 'nothing' | 'leases' | 'locks';

/** A session; its id alone may be another tenant's too. */
export type SessionKey = { readonly tenantId: string; readonly sessionId: string };

/** A job, and for how long it had been due when it was claimed. */
export type ClaimedJob = Job & { readonly waitedMs: number };

/**
 * What a worker needs of the jobs that it claims. `run_after` may be -infinity, which PostgreSQL 15 and
 * 16 subtract from no other time.
 */
const CLAIMED = `tenant_id, id, session_id, stage_run_id, lane_id, step_key, job_type, role,
  parent_job_id, chain_id, dependency_policy, quorum, concurrency_key, attempt,
  max_attempts, takeovers, degraded, payload, lease_token,
  (extract(epoch from app_now()) - extract(epoch from run_after))::float8 * 1000 as waited_ms`;

type ClaimedRow = Omit<JobRow, 'status'> & { waited_ms: number };

const toClaimed = (row: ClaimedRow): ClaimedJob => ({ ...toJob(row), waitedMs: row.waited_ms });

/** Takes abandoned jobs back if asked to, then claims what is due. One round trip. */
export async function claimJobs(
  database: Database,
  workerId: string,
  batch: number,
  leaseMs: number,
  sweep: Sweep,
  only?: SessionKey,
  { maxTakeovers } = DEFAULT_JOB_SETTINGS,
): Promise<ClaimedJob[]> {
  const sweeping = [workerId, sweep === 'locks', maxTakeovers];
  const rows = await database.asWorker((tx) =>
    tx.finish(async () => {
      const before = [
        tx.query(QUIET),
        ...(isHurried(database) ? [] : [tx.query(FORGETTABLE)]),
        ...(sweep === 'nothing' ? [] : [tx.query(SWEEP, sweeping, 'sweep-jobs')]),
      ];
      // With a name: planned anew it took a fifth of the server's time for a claim.
      const claimed = tx.query<ClaimedRow>(
        `select ${CLAIMED} from claim_jobs($1, $2, $3, $4, $5)`,
        [workerId, batch, `${Math.round(leaseMs)} ms`, only?.tenantId, only?.sessionId],
        'claim-jobs',
      );
      const [found] = await Promise.all([claimed, ...before]);
      return found;
    }),
  );
  return rows.map(toClaimed);
}

/** What a worker takes in the transaction that ends one of its jobs: work for the slots it has. */
export type NextClaim = {
  readonly workerId: string;
  readonly sessionId: string;
  readonly room: number;
  readonly leaseMs: number;
};

/**
 * Claims jobs with the commit of one that ends, behind all else that the transaction does. Jobs that
 * end together claim together, and the first of a worker's gets what was claimed for it. Null where
 * other sessions wait for the slots of a limit: then workers claim by themselves.
 */
export async function claimWithCommit(
  tx: Transaction,
  { workerId, sessionId, room, leaseMs }: NextClaim,
): Promise<ClaimedJob[] | null> {
  const rows = await tx.queryForAll<ClaimedRow & { worker_id: string | null }>(
    `select worker_id, ${CLAIMED} from claim_next($1, $2, $3, $4)`,
    [workerId, room, sessionId, `${Math.round(leaseMs)} ms`],
    'claim-next',
    'claims',
  );
  if (rows[0]?.worker_id === null) return null;
  const own = rows.filter((row) => row.worker_id === workerId);
  const others = rows.filter((row) => row.worker_id !== workerId);
  rows.splice(0, rows.length, ...others);
  return own.map(toClaimed);
}

/**
 * Completes jobs that had no effects, where their lease still holds, and returns their ids. A crash
 * that forgets it leaves a job that runs again, and whatever builds on it is saved after it. A server
 * forgets the last half second at most; PGlite has no WAL writer process, so an asynchronous commit
 * would reach the disk only with the next synchronous one.
 */
export async function completeJobs(database: Database, jobs: readonly Job[]): Promise<string[]> {
  const rows = await database.immediate<{ id: string }>(
    { as: 'worker' },
    `${QUIET}; ${isHurried(database) ? '' : `${FORGETTABLE};`}
     select complete_jobs(${uuids([...new Set(jobs.map((job) => job.tenantId))])},
       ${uuids(jobs.map((job) => job.id))}, ${uuids(jobs.map((job) => job.leaseToken))}) as id`,
  );
  return rows.map((row) => row.id);
}

/** Extends the leases of the jobs that a worker runs and returns the tokens that it still has. */
export async function extendLeases(
  database: Database,
  workerId: string,
  leaseMs: number,
  jobs: readonly Job[],
): Promise<string[]> {
  const rows = await database.immediate<{ token: string }>(
    { as: 'worker' },
    `${FORGETTABLE};
     select extend_leases(${uuid(workerId)}, ${uuids(jobs.map((job) => job.leaseToken))},
       ${interval(leaseMs)}) as token`,
  );
  return rows.map((row) => row.token);
}

/** With the directory lock held, no other process can have a running job. */
export async function requeueAll(
  database: Database,
  { maxTakeovers } = DEFAULT_JOB_SETTINGS,
): Promise<void> {
  await database.immediate(
    { as: 'worker' },
    `select take_over(array(select lease_token from jobs where status = 'processing'),
       ${maxTakeovers})`,
  );
}

/** Gives running jobs back unharmed, for a worker that stops. */
export async function handBack(database: Database, jobs: readonly Job[]): Promise<void> {
  await database.immediate(
    { as: 'worker' },
    `update jobs set status = 'pending', worker_id = null, lease_token = null, lease_until = null
     where status = 'processing' and lease_token = any (${uuids(jobs.map((job) => job.leaseToken))})`,
  );
}

/** Puts a failed job to rest until its next try; false if the lease is gone. */
export async function retryLater(
  database: Database,
  job: Job,
  error: JobError,
  delayMs: number,
  counts: boolean,
): Promise<boolean> {
  return database.asWorker(async (tx) => {
    const rows = await tx.query(
      `update jobs set status = 'retrying', attempt = greatest(0, least(attempt, 2147483646)) + $5::int,
         error = $4,
         run_after = app_now() + $6::int * interval '1 millisecond',
         worker_id = null, lease_token = null, lease_until = null
       where tenant_id = $1 and id = $2 and lease_token = $3 and status = 'processing'
       returning 1`,
      [job.tenantId, job.id, job.leaseToken, error, counts ? 1 : 0, Math.round(delayMs)],
    );
    return rows.length > 0;
  });
}
