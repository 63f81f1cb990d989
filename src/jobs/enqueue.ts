import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import { JOB_TYPES, type JobStatus } from './transitions.ts';
import type { NewJob } from './types.ts';

export const JOBS_CHANNEL = 'dialectic_jobs';

type InsertOptions = {
  /** Set for the next link of a chain. */
  readonly chainId?: string;
};

/**
 * Inserts jobs in the caller's transaction and tells the workers. A job whose idempotency key is
 * already there is not inserted again; its id is the first one's.
 */
export async function enqueueJobs(tx: Transaction, jobs: readonly NewJob[]): Promise<string[]> {
  const rows = jobs.map((job) => ({ ...job, id: job.id ?? newId() }));
  const inserted = new Set(await insertJobs(tx, rows));
  const ids =
    inserted.size === rows.length
      ? rows.map((job) => job.id)
      : await resolveRepeated(tx, rows, inserted);
  await tellWorkers(tx);
  return ids;
}

/** A hint that there is work, sent with the commit. */
export async function tellWorkers(tx: Transaction): Promise<void> {
  await tx.query(`select pg_notify('${JOBS_CHANNEL}', '')`);
}

/**
 * Inserts jobs by one statement and returns the ids of those that were not there yet. Without the
 * hint: for the worker, which looks for more work by itself.
 */
export async function insertJobs(
  tx: Transaction,
  jobs: readonly NewJob[],
  options: InsertOptions = {},
): Promise<string[]> {
  if (jobs.length === 0) return [];
  const rows = toFamilies(jobs, options);
  const inserted = await tx.query<{ id: string }>(INSERT, [{ rows }], 'insert-jobs');
  return inserted.map((row) => row.id);
}

/**
 * The same for the children of a job, with those of all jobs that are settled in the same transaction
 * and before one of these goes on: the triggers of the table cost as much for ten as for a hundred.
 */
export async function insertChildren(tx: Transaction, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.queryForRows(INSERT, toFamilies(jobs, {}), 'insert-children', 'children');
}

const INSERT = 'select insert_jobs($1) as id';

/** Jobs, and what they share: the server parses that once, and most jobs are one of many siblings. */
type Family = ReturnType<typeof sharedOf> & { readonly jobs: ReturnType<typeof toRow>[] };

/** In the order of the jobs, which is that of their numbers. */
function toFamilies(given: readonly NewJob[], options: InsertOptions): Family[] {
  const jobs = given.map((job) => ({ ...job, id: job.id ?? newId() }));
  for (const job of jobs) checkJob(job);
  refuseCycles(jobs);
  const families: Family[] = [];
  let last = '';
  for (const job of jobs) {
    const shared = sharedOf(job);
    const key = Object.values(shared).join();
    if (key !== last) families.push({ ...shared, jobs: [] });
    last = key;
    families.at(-1)?.jobs.push(toRow(job, options));
  }
  return families;
}

const sharedOf = (job: NewJob) => ({
  session_id: job.sessionId,
  stage_run_id: job.stageRunId ?? undefined,
  lane_id: job.laneId ?? undefined,
  parent_job_id: job.parentId ?? undefined,
});

/** What is undefined is left out of the JSON; the server reads every key that is there. */
function toRow(job: NewJob & { id: string }, { chainId }: InsertOptions) {
  return {
    id: job.id,
    step_key: job.stepKey ?? undefined,
    job_type: job.type,
    role: job.role,
    status: firstStatus(job, chainId),
    ends_with_children: job.waits?.thenEnd,
    prerequisite_job_id: job.prerequisiteId ?? undefined,
    chain_id: chainId,
    dependency_policy: job.policy,
    quorum: job.quorum ?? undefined,
    concurrency_key: job.concurrencyKey ?? undefined,
    max_attempts: job.maxAttempts ?? undefined,
    input_digest: job.inputDigest ?? undefined,
    idempotency_key: job.idempotencyKey ?? undefined,
    document_key: job.document?.key ?? undefined,
    document_identity: job.document?.identity ?? undefined,
    source_group: job.document?.sourceGroup ?? undefined,
    responding_lane_id: job.document?.respondingLaneId ?? undefined,
    payload: job.payload,
  };
}

/** Undefined for a job that is pending. */
function firstStatus(job: NewJob, chainId: string | undefined): JobStatus | undefined {
  if (chainId !== undefined) return 'pending_continuation';
  if (job.waits) return 'waiting_for_children';
  return job.prerequisiteId ? 'waiting_for_prerequisite' : undefined;
}

function checkJob(job: NewJob): void {
  if (!JOB_TYPES.includes(job.type)) {
    throw new DialecticError('job_type_unknown', `There is no job type ${job.type}.`, {
      details: { types: JOB_TYPES },
    });
  }
  const { payload } = job;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw new DialecticError('job_payload_invalid', 'The payload of a job must be an object.');
  }
}

/** Jobs inserted together may wait for each other, but not in a circle. */
function refuseCycles(jobs: readonly (NewJob & { id: string })[]): void {
  const waitsFor = new Map(jobs.map((job) => [job.id, job.prerequisiteId ?? null]));
  const cleared = new Set<string>();
  for (const { id } of jobs) {
    const path = new Set<string>();
    let at: string | null | undefined = id;
    while (at && waitsFor.has(at) && !cleared.has(at)) {
      if (path.has(at)) {
        throw new DialecticError('job_cycle', 'Jobs wait for each other in a circle.', {
          details: { jobs: [...path] },
        });
      }
      path.add(at);
      at = waitsFor.get(at);
    }
    for (const passed of path) cleared.add(passed);
  }
}

async function resolveRepeated(
  tx: Transaction,
  jobs: readonly (NewJob & { id: string })[],
  inserted: ReadonlySet<string>,
): Promise<string[]> {
  const keys = jobs.filter((job) => !inserted.has(job.id)).map((job) => job.idempotencyKey);
  const found = await tx.query<{ id: string; idempotency_key: string }>(
    'select id, idempotency_key from jobs where idempotency_key = any ($1)',
    [keys],
  );
  const byKey = new Map(found.map((row) => [row.idempotency_key, row.id]));
  return jobs.map((job) => (inserted.has(job.id) ? job.id : byKey.get(job.idempotencyKey!)!));
}
