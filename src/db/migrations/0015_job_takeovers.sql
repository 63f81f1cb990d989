-- The last commit of a job can be recognised, and limits by key are counted by an index.

alter table jobs
  -- The lease under which the job's effects were last committed. A worker whose connection broke
  -- before the answer to COMMIT came finds here that they are saved.
  add column committed_token uuid,
  -- Null = as often as the worker's settings say.
  alter column max_attempts drop not null,
  alter column max_attempts drop default;

-- How many jobs of a key run: claim_limited() asks that for each limit of a tenant.
create index jobs_running_by_key on jobs (concurrency_key)
  where status = 'processing' and concurrency_key is not null;

-- A worker writes the limits of its configuration when it starts.
grant insert, delete on concurrency_limits to dialectic_worker;

-- Replaced by a function with other arguments (functions/job-leases.sql).
drop function if exists requeue_abandoned(uuid, boolean);
