import type { ErrorCode } from '../errors/error-codes.ts';
import type { JobRole, JobStatus, JobType } from './transitions.ts';

export type DependencyPolicy = 'all' | 'quorum' | 'any';

/** Why a job did not succeed, as it is stored. */
export type JobError = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
};

/** The document that a job writes or renders, in columns that events, reports and exports read. */
export type JobDocument = {
  readonly key: string;
  readonly identity: string;
  readonly sourceGroup: string | null;
  readonly respondingLaneId: string | null;
};

type JobPayload = Readonly<Record<string, unknown>>;

/** A job to insert. Times, ids and status follow from the rest where they are absent. */
export type NewJob = {
  readonly id?: string;
  readonly sessionId: string;
  readonly type: JobType;
  /** `step` if absent. */
  readonly role?: JobRole;
  readonly payload: JobPayload;
  readonly parentId?: string | null;
  /** The chain (its first link's id) that must have succeeded before this job starts. */
  readonly prerequisiteId?: string | null;
  readonly stageRunId?: string | null;
  readonly laneId?: string | null;
  readonly stepKey?: string | null;
  readonly document?: JobDocument;
  /** What a failure of this job means for its parent. */
  readonly policy?: DependencyPolicy;
  /** How many of the step's jobs must succeed under `quorum`; null = more than half. */
  readonly quorum?: number | null;
  /** Jobs with the same key share a limit over all workers. */
  readonly concurrencyKey?: string | null;
  /** How often it is tried; as often as the worker's settings say if absent. */
  readonly maxAttempts?: number | null;
  /**
   * It waits from the beginning for children that are inserted with it; with `thenEnd` it is completed
   * by the end of the last one, where all succeed.
   */
  readonly waits?: { readonly thenEnd: boolean };
  readonly inputDigest?: string | null;
  readonly idempotencyKey?: string | null;
};

/** A job as a worker holds it. */
export type Job = {
  readonly tenantId: string;
  readonly id: string;
  readonly sessionId: string;
  readonly stageRunId: string | null;
  readonly laneId: string | null;
  readonly stepKey: string | null;
  readonly type: JobType;
  readonly role: JobRole;
  readonly parentId: string | null;
  readonly chainId: string;
  readonly policy: DependencyPolicy;
  readonly quorum: number | null;
  readonly concurrencyKey: string | null;
  readonly attempt: number;
  readonly maxAttempts: number | null;
  readonly takeovers: number;
  readonly degraded: boolean;
  readonly payload: JobPayload;
  readonly leaseToken: string;
};

/** A row of `jobs` as the database gives it back. */
export type JobRow = {
  tenant_id: string;
  id: string;
  session_id: string;
  stage_run_id: string | null;
  lane_id: string | null;
  step_key: string | null;
  job_type: JobType;
  role: JobRole;
  status: JobStatus;
  parent_job_id: string | null;
  chain_id: string;
  dependency_policy: DependencyPolicy;
  quorum: number | null;
  concurrency_key: string | null;
  attempt: number;
  max_attempts: number | null;
  takeovers: number;
  degraded: boolean;
  payload: JobPayload;
  lease_token: string | null;
};

export function toJob(row: Omit<JobRow, 'status'>): Job {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    sessionId: row.session_id,
    stageRunId: row.stage_run_id,
    laneId: row.lane_id,
    stepKey: row.step_key,
    type: row.job_type,
    role: row.role,
    parentId: row.parent_job_id,
    chainId: row.chain_id,
    policy: row.dependency_policy,
    quorum: row.quorum,
    concurrencyKey: row.concurrency_key,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    takeovers: row.takeovers,
    degraded: row.degraded,
    payload: row.payload,
    leaseToken: row.lease_token!,
  };
}
