import type { Database } from '../db/database.ts';
import type { AnyTransaction } from '../db/transaction.ts';
import { DialecticError, messageOf, toDialecticError } from '../errors/errors.ts';
import { now, sleep } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { random } from '../platform/random.ts';
import { cleanJson } from '../text/clean-text.ts';
import { askedMs, backoffMs, LONGEST_ASKED_MS } from './backoff.ts';
import { handBack, retryLater } from './queries.ts';
import { SetAside } from './set-aside.ts';
import type { JobSettings } from './settings.ts';
import type { Job, JobError } from './types.ts';

type Circumstances = {
  /** Told the handler to stop, if it is aborted: then its error says nothing about the job. */
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly settings: JobSettings;
};

/** Faults of the store, which say nothing about the job: it goes back unharmed. */
const NOT_THE_JOBS_FAULT = [
  'storage_full',
  'storage_closed',
  'database_unreachable',
  'database_busy',
];
const STORE_REST_MS = 200;
const TRIES = 5;
const LONGEST_MESSAGE = 4_000;

/** Settles a job whose handler threw: another try later, or the end with a notice to the user. */
export async function recordFailure(
  database: Database,
  job: Job,
  thrown: unknown,
  { signal, log, settings }: Circumstances,
): Promise<void> {
  const error = toDialecticError(thrown);
  if (error.code === 'lease_lost') return log(error.message);
  const stopped = signal.aborted || thrown instanceof SetAside;
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    try {
      if (stopped) await handBack(database, [job]);
      else if (NOT_THE_JOBS_FAULT.includes(error.code)) await handBackLater(database, job, signal);
      else await settle(database, job, error, settings);
      return;
    } catch (fault) {
      // Without a record the lease runs out and the job is taken over, which is safe but slow.
      const whose = `job ${job.id} of session ${job.sessionId}`;
      log(`cannot record the failure of ${whose}: ${messageOf(fault)}`);
      await database.driver.untilWritable(signal);
      await sleep(200 * attempt);
    }
  }
}

/** What claims jobs may reach the store while the work on them does not, and would claim it at once. */
async function handBackLater(database: Database, job: Job, signal: AbortSignal): Promise<void> {
  await database.driver.untilWritable(signal);
  await sleep(STORE_REST_MS, signal);
  await handBack(database, [job]);
}

async function settle(
  database: Database,
  job: Job,
  error: DialecticError,
  settings: JobSettings,
): Promise<void> {
  const asked = askedMs(error) ?? 0;
  if (error.retryable && asked > LONGEST_ASKED_MS) {
    const told = toJobError(tellWait(error, asked));
    await database.asWorker((tx) => failForGood(tx, job, told));
    return;
  }
  const stored = toJobError(error);
  // An error without a code counts as transient; one with a code says itself whether it is.
  const mayPass = error.code === 'internal_error' || error.retryable;
  const counts = error.details['sent'] !== false;
  // A tenant may write any number into its row; from one below zero it would be tried for ever.
  const before = Math.max(0, job.attempt);
  const tries = before + (counts ? 1 : 0);
  if (mayPass && tries < (job.maxAttempts ?? settings.maxAttempts)) {
    const restMs = backoffMs(before, error, random(), settings);
    await retryLater(database, job, stored, restMs, counts);
  } else {
    await database.asWorker((tx) => failForGood(tx, job, stored));
  }
}

/** The latest date that JavaScript knows. */
const LAST_DATE_MS = 8.64e15;

/** A provider that asks to wait for an hour or a year is not waited for, but named with its date. */
function tellWait(error: DialecticError, askedFor: number): DialecticError {
  const until = new Date(Math.min(LAST_DATE_MS, now().getTime() + askedFor)).toISOString();
  const message =
    `${error.message} The provider asks to wait until ${until}, which is more than` +
    ` ${LONGEST_ASKED_MS / 60_000} minutes; \`dialectic resume\` asks it again, then or at once.`;
  return new DialecticError(error.code, message, { cause: error, details: error.details });
}

/** Fails the job, of which a trigger tells the user; false if the lease is gone. */
export async function failForGood(tx: AnyTransaction, job: Job, error: JobError): Promise<boolean> {
  const rows = await tx.query(
    `update jobs set status = 'failed', attempt = least(attempt, 2147483646) + 1, error = $4,
       finished_at = app_now(), worker_id = null, lease_token = null, lease_until = null,
       committed_token = $3
     where tenant_id = $1 and id = $2 and lease_token = $3 and status = 'processing'
     returning 1`,
    [job.tenantId, job.id, job.leaseToken, error],
  );
  return rows.length > 0;
}

/**
 * An error as it is stored. A message that `jsonb` refuses would leave the job without a record: its
 * lease would run out, and the next worker would pay for the same request.
 */
export const toJobError = ({ code, message, details }: DialecticError): JobError =>
  cleanJson({ code, message: message.slice(0, LONGEST_MESSAGE), details });
