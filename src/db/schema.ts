import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type Json = JSONColumnType<Record<string, unknown>>;
type Now = Generated<Date>;
/** Set by the database, never by a statement. */
type ReadOnly<T> = ColumnType<T, never, never>;

/** The tables as kysely sees them; a test compares this with the database's catalog. */
export type Schema = {
  tenants: { tenant_id: string; name: string; created_at: Now };
  users: {
    tenant_id: string;
    id: string;
    email: string;
    name: string;
    is_owner: Generated<boolean>;
    created_at: Now;
  };
  api_tokens: {
    tenant_id: string;
    id: string;
    user_id: string;
    name: string;
    token_hash: Uint8Array;
    created_at: Now;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  events: {
    tenant_id: string;
    tx: ReadOnly<string>;
    id: ReadOnly<number>;
    topic: string;
    kind: string;
    payload: Json;
    created_at: Now;
  };
  sessions: {
    tenant_id: string;
    id: string;
    status: Generated<string>;
    gates: Generated<string[]>;
    max_running: number | null;
    created_at: Now;
    project_id: string | null;
    recipe_hash: string | null;
    iteration: Generated<number>;
    review_stages: Generated<boolean>;
    allow_degraded: Generated<boolean>;
    until_stage: string | null;
    writer_lane_id: string | null;
    chosen_lane_id: string | null;
    chosen_by: 'ballots' | 'person' | null;
  };
  blobs: { tenant_id: string; hash: string; body: string };
  projects: {
    tenant_id: string;
    id: string;
    name: string;
    domain: string | null;
    brief_hash: string;
    created_at: Now;
  };
  resources: {
    tenant_id: string;
    id: string;
    project_id: string;
    kind: string;
    name: string;
    blob_hash: string;
    created_at: Now;
  };
  recipe_stages: { tenant_id: string; hash: string; body: Json };
  recipe_versions: {
    tenant_id: string;
    hash: string;
    process_key: string;
    manifest: Json;
    created_at: Now;
  };
  lanes: { tenant_id: string; id: string; session_id: string; ordinal: number; model: string };
  contributions: {
    tenant_id: string;
    id: string;
    session_id: string;
    job_id: string;
    chain_id: string;
    ordinal: number;
    blob_hash: string;
    finish_reason: string;
    created_at: Now;
  };
  documents: {
    tenant_id: string;
    id: string;
    session_id: string;
    kind: 'document' | 'header_context' | 'seed_prompt';
    iteration: number;
    stage_key: string;
    step_key: string | null;
    document_key: string | null;
    lane_id: string | null;
    identity: string;
    version: Generated<number>;
    superseded: Generated<boolean>;
    job_id: string | null;
    contribution_id: string | null;
    source_group: string | null;
    anchor_id: string | null;
    relationships: Json;
    inputs: JSONColumnType<readonly unknown[]>;
    content: Json | null;
    markdown_hash: string | null;
    created_at: Now;
  };
  feedback: {
    tenant_id: string;
    id: string;
    session_id: string;
    iteration: number;
    stage_key: string;
    document_id: string | null;
    question: string | null;
    body: string;
    created_at: Now;
  };
  stage_runs: {
    tenant_id: string;
    id: string;
    session_id: string;
    iteration: number;
    stage_key: string;
    state: Generated<string>;
    version: Generated<number>;
    degraded: Generated<boolean>;
    created_at: Now;
    finished_at: Date | null;
  };
  lane_steps: {
    tenant_id: string;
    stage_run_id: string;
    lane_id: string;
    step_key: string;
    state: 'running' | 'completed' | 'failed';
    degraded: Generated<boolean>;
  };
  concurrency_limits: { tenant_id: string; key: string; max_running: number };
  jobs: {
    tenant_id: string;
    id: string;
    seq: ReadOnly<number>;
    session_id: string;
    stage_run_id: string | null;
    lane_id: string | null;
    step_key: string | null;
    job_type: string;
    counts: ReadOnly<boolean>;
    status: Generated<string>;
    parent_job_id: string | null;
    prerequisite_job_id: string | null;
    chain_id: string;
    continued: Generated<boolean>;
    dependency_policy: Generated<string>;
    quorum: number | null;
    degraded: Generated<boolean>;
    concurrency_key: string | null;
    attempt: Generated<number>;
    max_attempts: Generated<number>;
    takeovers: Generated<number>;
    run_after: Now;
    worker_id: string | null;
    lease_token: string | null;
    lease_until: Date | null;
    input_digest: string | null;
    idempotency_key: string | null;
    payload: Json;
    error: Json | null;
    created_at: Now;
    started_at: Date | null;
    finished_at: Date | null;
  };
  notices: {
    tenant_id: string;
    id: string;
    severity: 'info' | 'warning' | 'error';
    code: string;
    message: string;
    topic: string;
    details: Json;
    created_at: Now;
    dismissed_at: Date | null;
  };
};
