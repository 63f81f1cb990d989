import type { Database } from '../db/database.ts';
import { appendEvents, type NewEvent } from '../db/events.ts';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { insertChildren, insertJobs } from './enqueue.ts';
import { failForGood, toJobError } from './failure.ts';
import { type ClaimedJob, claimWithCommit, type NextClaim } from './queries.ts';
import { addGate, type Gate } from './sessions.ts';
import type { Job, NewJob } from './types.ts';

/** A job under this one; tenant, session, stage run and lane are those of its maker. */
export type ChildJob = Omit<NewJob, 'sessionId' | 'parentId'>;

/** What a job leaves behind, as one transaction under its lease: all of it, once, or nothing. */
export type Effects = {
  /** Rows, written as the job's tenant. */
  readonly write?: (tx: Transaction) => Promise<void>;
  /** As `write`, where every statement is given before one is awaited: they go with the commit. */
  readonly writeAtOnce?: (tx: Transaction) => Promise<unknown>;
  readonly children?: readonly ChildJob[];
  readonly events?: readonly NewEvent[];
  /** The next link of the job's chain: parents and waiters see only the chain's end. */
  readonly continuation?: ChildJob;
  /**
   * How the job goes on; completed if absent. `version` is the stage run's, read before deciding to
   * wait: if a step has ended since, the job is woken at once. `pause` sets a gate on the session and
   * puts the job back, so that it never passes through `failed` for want of money or room. `fail` ends
   * the job for good while what it wrote is kept. `thenEnd`: where all children succeed the job is
   * completed by the end of the last one, without running again.
   */
  readonly next?:
    | { readonly waitFor: 'children'; readonly thenEnd?: boolean }
    | { readonly waitFor: 'lanes'; readonly version: number }
    | { readonly pause: Gate }
    | { readonly fail: DialecticError };
};

/** What a handler works with. */
export type JobContext = {
  readonly job: Job;
  /** Aborts when the lease is lost, the job is cancelled or the worker stops. */
  readonly signal: AbortSignal;
  /**
   * Aborts as soon as the worker is asked to stop. What is paid for goes on until `signal`; work that
   * prepares a call ends here with `SetAside`.
   */
  readonly stopping: AbortSignal;
  /** Extends the lease now; throws `lease_lost` if another worker has the job. */
  readonly heartbeat: () => Promise<void>;
  /** Ends this execution with its effects. At most once; without it the job simply completes. */
  readonly commit: (effects: Effects) => Promise<void>;
};

export type JobHandler = (context: JobContext) => Promise<void>;
export type JobHandlers = Partial<Record<Job['type'], JobHandler>>;

/**
 * Runs a job's effects and its change of status as one transaction; throws `lease_lost`. Returns the
 * jobs that were claimed with it, as `claimWithCommit` does.
 */
export async function commitEffects(
  database: Database,
  job: Job,
  effects: Effects,
  claim?: NextClaim,
): Promise<ClaimedJob[] | null> {
  const { next, write } = effects;
  const needsLanes = next !== undefined && 'version' in next;
  if (needsLanes && job.stageRunId === null) {
    throw new DialecticError('not_found', 'A job without a stage run has no lanes.');
  }
  // The jobs of lanes and stages are locked after their stage run, here as in the triggers.
  const isAbove = needsLanes || (job.stageRunId !== null && job.role !== 'step');
  // A server brings a plan to the disk soon after, and the embedded store only with the next commit:
  // the session whose end is told here may have none.
  const awaitsDisk = job.type !== 'PLAN' || database.driver.kind === 'embedded';
  const lock = (tx: Transaction) =>
    Promise.all([
      awaitsDisk ? undefined : doNotAwaitDisk(tx),
      isAbove ? lockStageRun(tx, job) : undefined,
      holdLease(tx, job),
    ]);
  const finish = async (tx: Transaction): Promise<ClaimedJob[] | null> => {
    const given = [
      write ? undefined : lock(tx),
      startWrites(effects, tx),
      insertChildren(tx, childrenOf(job, effects)),
      appendEvents(tx, effects.events ?? []),
      ...settle(tx, job, effects),
    ];
    // The claim comes last; all are awaited together, since all fail together.
    const [claimed] = await Promise.all([claim ? claimWithCommit(tx, claim) : [], ...given]);
    return claimed;
  };
  if (!write && (effects.writeAtOnce || isAbove || job.type === 'PLAN')) {
    return database.together(job.tenantId, groupOf(job, isAbove), finish);
  }
  return database.asTenant(job.tenantId, async (tx) => {
    if (write) {
      await lock(tx);
      await write(tx);
    }
    return tx.finish(() => finish(tx));
  });
}

/** What it throws rejects with the statements beside it: otherwise their promises were nobody's. */
const startWrites = async ({ writeAtOnce }: Effects, tx: Transaction): Promise<unknown> =>
  writeAtOnce?.(tx);

/**
 * Whose commits go together. The ends of calls wait for the same wallet and stage run, in this order;
 * plans of lanes lock the stage run first, so they are a group of their own. Plans without a stage run
 * have nothing in common but the connection.
 */
function groupOf(job: Job, isAbove: boolean): string {
  if (isAbove) return `${job.sessionId}/plan`;
  return job.type === 'PLAN' ? 'plan' : job.sessionId;
}

/** The statements that end this execution of the job, in their order. */
function settle(tx: Transaction, job: Job, effects: Effects): readonly Promise<unknown>[] {
  const { next, continuation } = effects;
  if (next && 'fail' in next) return [failForGood(tx, job, toJobError(next.fail))];
  return [
    ...(next && 'pause' in next ? [addGate(tx, job.sessionId, next.pause)] : []),
    endExecution(tx, job, effects),
    // After the end of the link before it, so that the chain never has two that stand for it.
    ...(continuation ? [insertContinuation(tx, job, continuation)] : []),
  ];
}

function endExecution(tx: Transaction, job: Job, effects: Effects): Promise<void> {
  const { next, continuation } = effects;
  if (!next && !continuation) return complete(tx, job);
  const waits = next !== undefined && 'waitFor' in next && next.waitFor === 'children';
  if (waits && !continuation) return suspend(tx, job, next.thenEnd === true);
  return changeStatus(tx, job, effects);
}

/** Locks the job's row for the rest of the transaction, with those of others; raises `lease_lost`. */
async function holdLease(tx: Transaction, job: Job): Promise<void> {
  const text = 'select hold_leases($1, $2)';
  await tx.queryForAll(text, [job.id, job.leaseToken], 'hold-leases', 'locks');
}

/** The next status as an expression, under a name for the statement that sets it. */
function nextStatus({ next }: Effects): { readonly name: string; readonly status: string } {
  if (!next || 'fail' in next) return { name: 'continue-job', status: `'completed'` };
  if ('pause' in next) return { name: 'pause-job', status: `'pending'` };
  if (next.waitFor === 'children') {
    return { name: 'continue-and-wait', status: `'waiting_for_children'` };
  }
  // If `stage_runs.version` moved since the job read it, the job plans again instead of waiting:
  // otherwise its wake-up would be lost.
  const status = `case when (select version from stage_runs r where r.tenant_id = j.tenant_id
    and r.id = j.stage_run_id) = $4 then 'waiting_for_lanes' else 'pending_next_step' end`;
  return { name: 'wait-for-lanes', status };
}

/** Ends the job, and those that end in the same transaction with it, by one statement. */
async function complete(tx: Transaction, job: Job): Promise<void> {
  const text = 'select complete_held_jobs($1, $2)';
  await tx.queryForAll(text, [job.id, job.leaseToken], 'complete-jobs', 'ends');
}

/** Lets the job wait for its children, with those that begin to wait in the same transaction. */
async function suspend(tx: Transaction, job: Job, endsAlone: boolean): Promise<void> {
  const text = `select suspend_held_jobs($1, $2, ${endsAlone})`;
  const name = endsAlone ? 'end-with-children' : 'wait-for-children';
  await tx.queryForAll(text, [job.id, job.leaseToken], name, 'ends');
}

/**
 * A child that could not even start may have failed the job already; then that stands. A lease is of a
 * running job alone; a condition on the status would have the planner read the index of all of them.
 */
async function changeStatus(tx: Transaction, job: Job, effects: Effects): Promise<void> {
  const { next } = effects;
  const { name, status } = nextStatus(effects);
  const version = next && 'version' in next ? [next.version] : [];
  const endsAlone = next !== undefined && 'thenEnd' in next && next.thenEnd;
  await tx.query(
    `update jobs j set status = ${status}, continued = $3, ends_with_children = ${endsAlone},
       attempt = 0, error = null,
       takeovers = case when ${status} = 'completed' then takeovers else 0 end,
       finished_at = case when ${status} = 'completed' then app_now() end,
       run_after = app_now(), worker_id = null, lease_token = null, lease_until = null,
       committed_token = $2
     where id = $1 and lease_token = $2`,
    [job.id, job.leaseToken, effects.continuation !== undefined, ...version],
    name,
  );
}

export function leaseLost(job: Job): DialecticError {
  return new DialecticError('lease_lost', `Job ${job.id} is no longer held by this worker.`, {
    details: { jobId: job.id },
  });
}

function childrenOf(job: Job, { children = [] }: Effects): NewJob[] {
  const inherited = {
    sessionId: job.sessionId,
    stageRunId: job.stageRunId,
    laneId: job.laneId,
    parentId: job.id,
  };
  return children.map((child) => ({ ...inherited, ...child }));
}

async function insertContinuation(tx: Transaction, job: Job, child: ChildJob): Promise<void> {
  const link: NewJob = {
    sessionId: job.sessionId,
    stageRunId: job.stageRunId,
    laneId: job.laneId,
    parentId: job.parentId,
    stepKey: job.stepKey,
    role: job.role,
    policy: job.policy,
    quorum: job.quorum,
    concurrencyKey: job.concurrencyKey,
    maxAttempts: job.maxAttempts,
    ...child,
  };
  await insertJobs(tx, [link], { chainId: job.chainId });
}

async function lockStageRun(tx: Transaction, { stageRunId }: Job): Promise<void> {
  const text = 'select 1 from stage_runs where id = any ($1) order by id for no key update';
  await tx.queryForAll(text, [stageRunId], 'lock-stage-runs', 'locks');
}

/**
 * A plan that is lost with the server is made again. What follows from it is not saved before it: the
 * log is written in order, and the row of a call is awaited.
 */
async function doNotAwaitDisk(tx: Transaction): Promise<void> {
  await tx.query('set local synchronous_commit = off');
}
