-- Sessions as the engine sees them, stage runs, lanes, jobs.
--
-- The jobs table is its own queue (functions/job-*.sql).

create table sessions (
  tenant_id uuid not null references tenants,
  id uuid not null,
  status text not null default 'running'
    check (status in ('draft', 'running', 'awaiting_review', 'completed', 'failed', 'cancelled')),
  -- Reasons why nothing of the session is claimed. Rows keep their status while a gate is set.
  gates text[] not null default '{}'
    check (gates <@ array['user', 'funds', 'budget', 'approval', 'storage']),
  -- How many of its jobs may run at once; null = as many as there are workers.
  max_running int check (max_running > 0),
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id)
);
create index sessions_running on sessions (id) where status = 'running' and gates = '{}';
call isolate_table('sessions', 'select, insert, update');
call open_table('sessions', 'dialectic_worker', 'select, update');

-- One stage of one pass of a session. `version` grows whenever a step of any lane ends, so that a
-- lane which decided to wait can see that it decided on old news.
create table stage_runs (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  iteration int not null,
  stage_key text not null,
  state text not null default 'running'
    check (state in ('running', 'completed', 'failed', 'cancelled')),
  version bigint not null default 0,
  degraded boolean not null default false,
  created_at timestamptz not null default app_now(),
  finished_at timestamptz,
  primary key (tenant_id, id),
  unique (tenant_id, session_id, iteration, stage_key),
  foreign key (tenant_id, session_id) references sessions
);
call isolate_table('stage_runs', 'select, insert, update');
call open_table('stage_runs', 'dialectic_worker', 'select, update');

-- Where each lane stands. The step '*' stands for a lane that ended before its steps did.
create table lane_steps (
  tenant_id uuid not null,
  stage_run_id uuid not null,
  lane_id uuid not null,
  step_key text not null,
  state text not null check (state in ('running', 'completed', 'failed')),
  degraded boolean not null default false,
  primary key (tenant_id, stage_run_id, lane_id, step_key),
  foreign key (tenant_id, stage_run_id) references stage_runs
);
call isolate_table('lane_steps', 'select, insert, update, delete');
call open_table('lane_steps', 'dialectic_worker', 'select, insert, update');

-- How many jobs with a key (a provider, say) may run at once, over all workers.
create table concurrency_limits (
  tenant_id uuid not null references tenants,
  key text not null,
  max_running int not null check (max_running > 0),
  primary key (tenant_id, key)
);
call isolate_table('concurrency_limits', 'select, insert, update, delete');
call open_table('concurrency_limits', 'dialectic_worker', 'select, update');

create table jobs (
  tenant_id uuid not null,
  id uuid not null,
  seq bigint generated always as identity,
  session_id uuid not null,
  stage_run_id uuid,
  lane_id uuid,
  step_key text,
  job_type text not null check (job_type in ('PLAN', 'EXECUTE', 'RENDER')),
  -- RENDER jobs count for nobody's completion but their own.
  counts boolean not null generated always as (job_type <> 'RENDER') stored,
  status text not null default 'pending',
  parent_job_id uuid,
  -- The first link of the chain that must have ended before this job starts.
  prerequisite_job_id uuid,
  -- The first link of this job's own chain of continuations: itself unless it continues another.
  chain_id uuid not null,
  -- Whether a next link was made in the transaction that ended this one.
  continued boolean not null default false,
  dependency_policy text not null default 'all'
    check (dependency_policy in ('all', 'quorum', 'any')),
  quorum int check (quorum > 0),
  degraded boolean not null default false,
  concurrency_key text,
  attempt int not null default 0,
  max_attempts int not null default 5 check (max_attempts > 0),
  takeovers int not null default 0,
  run_after timestamptz not null default app_now(),
  worker_id uuid,
  lease_token uuid,
  lease_until timestamptz,
  input_digest text,
  idempotency_key text,
  payload jsonb not null default '{}',
  error jsonb,
  created_at timestamptz not null default app_now(),
  started_at timestamptz,
  finished_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, stage_run_id) references stage_runs
) with (fillfactor = 80);
-- Only the key begins with the tenant: a planner without statistics takes any tenant for one of many
-- and would read all of its rows by whichever index is smallest. handle_job_insertion() looks after
-- the references between jobs, once for all children of a parent.
create unique index jobs_once on jobs (tenant_id, idempotency_key) where idempotency_key is not null;
create index jobs_due on jobs (session_id, run_after, seq)
  where status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation');
create index jobs_running on jobs (session_id, worker_id) where status = 'processing';
create index jobs_children on jobs (parent_job_id, status)
  where counts and parent_job_id is not null;
create index jobs_waiting on jobs (prerequisite_job_id)
  where status = 'waiting_for_prerequisite';
create index jobs_at_barrier on jobs (stage_run_id) where status = 'waiting_for_lanes';
create index jobs_links on jobs (chain_id) where chain_id <> id;
-- A lane's root plans its steps; it has a lane and no step of its own.
create index jobs_lane_roots on jobs (stage_run_id)
  where lane_id is not null and step_key is null;
create index jobs_of_session on jobs (session_id, seq);
call isolate_table('jobs', 'select, insert, update');
call open_table('jobs', 'dialectic_worker', 'select, insert, update');

create type job_place as (tenant_id uuid, id uuid);
-- What is known of a job that has just ended, for the functions that wake others.
create type job_end as (
  tenant_id uuid, id uuid, status text, counts boolean, parent_job_id uuid, chain_id uuid,
  stage_run_id uuid, lane_id uuid, step_key text, dependency_policy text
);

create type job_wait as (tenant_id uuid, id uuid, parent_job_id uuid, prerequisite_job_id uuid);
