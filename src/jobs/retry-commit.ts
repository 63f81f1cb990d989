import type { Database } from '../db/database.ts';
import { type DialecticError, toDialecticError } from '../errors/errors.ts';
import { sleep } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { random } from '../platform/random.ts';
import { commitEffects, type Effects } from './context.ts';
import type { ClaimedJob, NextClaim } from './queries.ts';
import type { Job } from './types.ts';

const FIRST_MS = 100;
const LONGEST_MS = 2_000;
/** A worker that stops waits no longer than this many tries for its store. */
const TRIES_WHEN_STOPPED = 3;

/** Faults of the store that pass: away, busy, full, a deadlock, a serialization failure. */
const PASSING = [
  'database_unreachable',
  'database_busy',
  'storage_full',
  'storage_closed',
  'conflict',
];

/** Whether a store that could not save something may be able to later. */
export const isPassing = ({ code, retryable }: DialecticError): boolean =>
  retryable && PASSING.includes(code);

type CommitCircumstances = {
  readonly signal: AbortSignal;
  readonly log: Log;
  /** What the worker takes with the commit, where it is made at the first try. */
  readonly claim?: NextClaim | undefined;
  /** Hears that the first try has failed, so that nothing will be taken. */
  readonly onRetry?: () => void;
};

/**
 * Commits a job's effects, again and again while the store is away: they may hold an answer that was
 * paid for. The effects stay in memory meanwhile; the end is a commit, a lost lease or the worker's
 * stop. Where the connection broke before the answer to COMMIT came, the job's row tells whether
 * they are saved already. Returns the jobs that were claimed with the commit,
 * as `claimWithCommit` does.
 */
export async function commitPersistently(
  database: Database,
  job: Job,
  effects: Effects,
  { signal, log, claim, onRetry }: CommitCircumstances,
): Promise<ClaimedJob[] | null> {
  let mayBeSaved = false;
  let stoppedTries = 0;
  for (let attempt = 0; ; attempt++) {
    try {
      if (mayBeSaved && (await isCommitted(database, job))) {
        if (claim) await handBackUnheard(database, job, claim);
        return [];
      }
      return await commitEffects(database, job, effects, attempt === 0 ? claim : undefined);
    } catch (thrown) {
      const error = toDialecticError(thrown);
      if (!isPassing(error)) throw error;
      if (attempt === 0) onRetry?.();
      if (signal.aborted && ++stoppedTries >= TRIES_WHEN_STOPPED) throw error;
      mayBeSaved ||= error.details['outcome'] === 'unknown';
      const { id, sessionId } = job;
      if (attempt === 0) {
        const what = 'keeps what it received until it is saved';
        log(`job ${id} of session ${sessionId} ${what}: ${error.message}`);
      }
    }
    await database.driver.untilWritable(signal);
    const restMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
    await sleep(restMs * (0.5 + random() / 2), signal.aborted ? undefined : signal);
  }
}

/** Whether the effects of this lease are in the store. */
async function isCommitted(database: Database, job: Job): Promise<boolean> {
  const rows = await database.asTenant(job.tenantId, (tx) =>
    tx.query('select 1 from jobs where id = $1 and committed_token = $2', [job.id, job.leaseToken]),
  );
  return rows.length > 0;
}

/**
 * Gives back what a commit has claimed whose answer was lost: nobody else would take it before its
 * leases are over. Rows that one transaction wrote have one `xmin`.
 */
async function handBackUnheard(
  database: Database,
  { tenantId, id, leaseToken }: Job,
  { workerId }: NextClaim,
): Promise<void> {
  await database.asWorker((tx) =>
    tx.query(
      `update jobs n set status = 'pending', worker_id = null, lease_token = null,
         lease_until = null
       from jobs j where j.tenant_id = $1 and j.id = $2 and j.committed_token = $3
         and n.tenant_id = j.tenant_id and n.session_id = j.session_id and n.worker_id = $4
         and n.status = 'processing' and n.xmin = j.xmin`,
      [tenantId, id, leaseToken, workerId],
    ),
  );
}
