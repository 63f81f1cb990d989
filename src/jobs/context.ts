import type { Database, Transaction } from '../db/database.ts';
import { appendEvents, type NewEvent } from '../db/events.ts';
import { DialecticError } from '../platform/errors.ts';
import { insertJobs } from './enqueue.ts';
import { failForGood, toJobError } from './failure.ts';
import { addGate, type Gate } from './sessions.ts';
import type { Job, NewJob } from './types.ts';

/** A job under this one; tenant, session, stage run and lane are those of its maker. */
export type ChildJob = Omit<NewJob, 'tenantId' | 'sessionId' | 'parentId'>;

/** What a job leaves behind, as one transaction under its lease: all of it, once, or nothing. */
export type Effects = {
  /** Rows, written as the job's tenant. */
  readonly write?: (tx: Transaction) => Promise<void>;
  readonly children?: readonly ChildJob[];
  readonly events?: readonly Omit<NewEvent, 'tenantId'>[];
  /** The next link of the job's chain: parents and waiters see only the chain's end. */
  readonly continuation?: ChildJob;
  /**
   * How the job goes on; completed if absent. `version` is the stage run's, read before deciding to
   * wait: if a step has ended since, the job is woken at once. `pause` sets a gate on the session and
   * puts the job back, so that it never passes through `failed` for want of money or room. `fail` ends
   * the job for good while what it wrote is kept.
   */
  readonly next?:
    | { readonly waitFor: 'children' }
    | { readonly waitFor: 'lanes'; readonly version: number }
    | { readonly pause: Gate }
    | { readonly fail: DialecticError };
};

/** What a handler works with. */
export type JobContext = {
  readonly job: Job;
  /** Aborts when the lease is lost, the job is cancelled or the worker stops. */
  readonly signal: AbortSignal;
  /** Extends the lease now; throws `lease_lost` if another worker has the job. */
  readonly heartbeat: () => Promise<void>;
  /** Ends this execution with its effects. At most once; without it the job simply completes. */
  readonly commit: (effects: Effects) => Promise<void>;
};

export type JobHandler = (context: JobContext) => Promise<void>;
export type JobHandlers = Partial<Record<Job['type'], JobHandler>>;

/** Runs a job's effects and its change of status as one transaction; throws `lease_lost`. */
export async function commitEffects(database: Database, job: Job, effects: Effects): Promise<void> {
  await database.asTenant(job.tenantId, async (tx) => {
    await tx.query("set local dialectic.quiet = 'on'");
    const { next, continuation } = effects;
    // Locks go from the stage run to the jobs, here as in the triggers.
    const version = next && 'version' in next ? await lockStageRun(tx, job) : undefined;
    await effects.write?.(tx);
    await insertChildren(tx, job, effects.children ?? []);
    if (continuation) await insertContinuation(tx, job, continuation);
    const events = effects.events ?? [];
    await appendEvents(
      tx,
      events.map((event) => ({ ...event, tenantId: job.tenantId })),
    );
    if (next && 'pause' in next) await addGate(tx, job.tenantId, job.sessionId, next.pause);
    if (next && 'fail' in next) {
      if (!(await failForGood(tx, job, toJobError(next.fail)))) throw leaseLost(job);
      return;
    }
    const stale = next && 'version' in next && next.version !== version;
    await changeStatus(tx, job, nextStatus(effects, stale === true), continuation !== undefined);
  });
}

function nextStatus({ next }: Effects, stale: boolean): string {
  if (!next || 'fail' in next) return `'completed'`;
  if ('pause' in next) return `'pending'`;
  if (next.waitFor === 'lanes') return stale ? `'pending_next_step'` : `'waiting_for_lanes'`;
  // With nothing to wait for the parent would sleep for ever, so it is woken at once.
  return `case when exists (select from jobs c where c.tenant_id = j.tenant_id and c.counts
    and c.parent_job_id = j.id and not is_over(c.status))
    then 'waiting_for_children' else 'pending_next_step' end`;
}

async function changeStatus(tx: Transaction, job: Job, status: string, continued: boolean) {
  const rows = await tx.query(
    `update jobs j set status = ${status}, continued = $4, attempt = 0, error = null,
       finished_at = case when ${status} = 'completed' then app_now() end,
       run_after = app_now(), worker_id = null, lease_token = null, lease_until = null
     where tenant_id = $1 and id = $2 and lease_token = $3 and status = 'processing' returning 1`,
    [job.tenantId, job.id, job.leaseToken, continued],
  );
  if (rows.length === 0) throw leaseLost(job);
}

export function leaseLost(job: Job): DialecticError {
  return new DialecticError('lease_lost', `Job ${job.id} is no longer held by this worker.`, {
    details: { jobId: job.id },
  });
}

async function insertChildren(tx: Transaction, job: Job, children: readonly ChildJob[]) {
  const inherited = {
    tenantId: job.tenantId,
    sessionId: job.sessionId,
    stageRunId: job.stageRunId,
    laneId: job.laneId,
    parentId: job.id,
  };
  await insertJobs(
    tx,
    children.map((child) => ({ ...inherited, ...child })),
  );
}

async function insertContinuation(tx: Transaction, job: Job, child: ChildJob): Promise<void> {
  const link: NewJob = {
    tenantId: job.tenantId,
    sessionId: job.sessionId,
    stageRunId: job.stageRunId,
    laneId: job.laneId,
    parentId: job.parentId,
    stepKey: job.stepKey,
    ...child,
  };
  await insertJobs(tx, [link], { chainId: job.chainId, status: 'pending_continuation' });
}

async function lockStageRun(tx: Transaction, job: Job): Promise<number> {
  const [row] = await tx.query<{ version: number }>(
    'select version from stage_runs where tenant_id = $1 and id = $2 for update',
    [job.tenantId, job.stageRunId],
  );
  if (!row) throw new DialecticError('not_found', 'A job without a stage run has no lanes.');
  return row.version;
}
