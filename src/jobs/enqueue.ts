import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import { JOB_TYPES, type JobStatus } from './transitions.ts';
import type { NewJob } from './types.ts';

export const JOBS_CHANNEL = 'dialectic_jobs';

type InsertOptions = {
  /** Set for the next link of a chain. */
  readonly chainId?: string;
  readonly status?: JobStatus;
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
  const rows = jobs.map((job) => ({ ...job, id: job.id ?? newId() }));
  for (const job of rows) checkJob(job);
  refuseCycles(rows);
  const inserted = await tx.query<{ id: string }>(
    INSERT,
    [JSON.stringify(rows.map((job) => toRow(job, options))), tx.tenantId],
    'insert-jobs',
  );
  return inserted.map((row) => row.id);
}

const INSERT = `
  insert into jobs (tenant_id, id, session_id, stage_run_id, lane_id, step_key, job_type, role,
    status, parent_job_id, prerequisite_job_id, chain_id, dependency_policy, quorum,
    concurrency_key, max_attempts, input_digest, idempotency_key, document_key,
    document_identity, source_group, responding_lane_id, payload)
  select $2, id, session_id, stage_run_id, lane_id, step_key, job_type, role,
    status, parent_job_id, prerequisite_job_id, chain_id, dependency_policy, quorum,
    concurrency_key, max_attempts, input_digest, idempotency_key, document_key,
    document_identity, source_group, responding_lane_id, payload
  from jsonb_to_recordset($1) as row (id uuid, session_id uuid, stage_run_id uuid,
    lane_id uuid, step_key text, job_type text, role text, status text, parent_job_id uuid,
    prerequisite_job_id uuid, chain_id uuid, dependency_policy text, quorum int,
    concurrency_key text, max_attempts int, input_digest text, idempotency_key text,
    document_key text, document_identity text, source_group uuid, responding_lane_id uuid,
    payload jsonb)
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
  returning id`;

/** What is undefined is left out of the JSON and so null; the server reads every key that is there. */
function toRow(job: NewJob & { id: string }, { chainId, status }: InsertOptions) {
  const waits = job.prerequisiteId ? 'waiting_for_prerequisite' : 'pending';
  return {
    id: job.id,
    session_id: job.sessionId,
    stage_run_id: job.stageRunId ?? undefined,
    lane_id: job.laneId ?? undefined,
    step_key: job.stepKey ?? undefined,
    job_type: job.type,
    role: job.role ?? 'step',
    status: status ?? waits,
    parent_job_id: job.parentId ?? undefined,
    prerequisite_job_id: job.prerequisiteId ?? undefined,
    chain_id: chainId ?? job.id,
    dependency_policy: job.policy ?? 'all',
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
