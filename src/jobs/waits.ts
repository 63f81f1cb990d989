import type { Transaction } from '../db/transaction.ts';
import type { JobError } from './types.ts';

/**
 * Jobs of a session that rest until a date, with the fault that they rest for, if any: that of the first
 * of them, where their faults differ in no more than details.
 */
export type Wait = {
  readonly jobs: number;
  /** When the first of them may run. */
  readonly until: Date;
  readonly error: JobError | null;
};

const WAITING = `session_id = $1 and run_after > app_now()
  and status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')`;

/** What a session waits for, the earliest first. Jobs from a clock that was ahead have no fault. */
export const readWaits = (tx: Transaction, sessionId: string): Promise<Wait[]> =>
  tx.query<Wait>(
    `select count(*)::int as jobs, min(run_after) as until,
       (array_agg(error order by run_after, id))[1] as error
     from jobs where ${WAITING} group by error->>'code', error->>'message' order by until`,
    [sessionId],
  );

/** Lets everything that waits for a date run now. */
export async function endWaits(tx: Transaction, sessionId: string): Promise<void> {
  await tx.query(`update jobs set run_after = app_now() where ${WAITING}`, [sessionId]);
}
