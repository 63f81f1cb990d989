-- Events of jobs.
--
-- Jobs change many at a time, so their events are written by one insert … select for each statement.
-- One row holds the events of all jobs that share session, kind, stage, lane, step and type: what they
-- share stands in the payload, the rest in its list `each`, and readers unfold it
-- (docs/decisions/events-of-jobs.md has the figures).

-- The change of a job's status as the verb of its event. A link whose chain goes on is `continued`:
-- `completed` is said of the chain's end alone.
create or replace function job_event_kind(from_status text, to_status text, is_continued boolean)
  returns text language sql immutable parallel safe
  return case
    when to_status = 'processing' then 'job-started'
    when to_status = 'retrying' then 'job-retried'
    when to_status = 'completed' and is_continued then 'job-continued'
    when to_status in ('completed', 'failed', 'cancelled', 'superseded') then 'job-' || to_status
    when from_status in ('failed', 'cancelled') then 'job-reopened'
    when to_status in ('waiting_for_children', 'waiting_for_lanes') then 'job-suspended'
    when from_status = 'processing' then 'job-requeued'
    else 'job-woken'
  end;

create or replace function short_error(error jsonb) returns jsonb
  language sql immutable parallel safe
  return case when error is not null
    then jsonb_build_object('code', error->'code', 'message', error->'message') end;

-- What a job's own entry in the list `each` says. Most jobs are the first of their chain, which readers
-- then take from `jobId`, and the shared part says null for a document key that is left out here.
create or replace function job_event_entry(
  job_id uuid, chain_id uuid, document_key text, status text, error jsonb, attempt int,
  run_after timestamptz
) returns jsonb language sql stable parallel safe
  return case
    when status = 'retrying' then jsonb_build_object('jobId', job_id, 'chainId', chain_id,
      'documentKey', document_key, 'error', short_error(error), 'attempt', attempt,
      'nextTryAt', run_after)
    when status in ('failed', 'cancelled') then jsonb_build_object('jobId', job_id,
      'chainId', chain_id, 'documentKey', document_key, 'error', short_error(error))
    when chain_id = job_id and document_key is null then jsonb_build_object('jobId', job_id)
    when chain_id = job_id then jsonb_build_object('jobId', job_id, 'documentKey', document_key)
    else jsonb_build_object('jobId', job_id, 'chainId', chain_id, 'documentKey', document_key)
  end;

create or replace function tell_new_jobs() returns trigger language plpgsql
  set enable_seqscan = off as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select g.tenant_id, 'session/' || g.session_id, 'job-created', jsonb_build_object(
    'status', g.status, 'type', g.job_type, 'stage', r.stage_key, 'iteration', r.iteration,
    'laneId', g.lane_id, 'lane', l.ordinal, 'model', l.model, 'step', g.step_key,
    'documentKey', null, 'each', g.each)
  from (
    select n.tenant_id, n.session_id, n.status, n.job_type, n.stage_run_id, n.lane_id, n.step_key,
      min(n.seq) as seq, jsonb_agg(job_event_entry(n.id, n.chain_id, n.document_key,
        n.status, n.error, n.attempt, n.run_after) order by n.seq) as each
    from new_rows n
    group by n.tenant_id, n.session_id, n.status, n.job_type, n.stage_run_id, n.lane_id, n.step_key
  ) as g
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = g.tenant_id and s.id = g.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = g.tenant_id and a.id = g.lane_id limit 1) as l on true
  order by g.seq;
  return null;
end
$$;

-- Fires before jobs_insertion, which wakes and cancels: triggers fire in the order of their names.
create or replace trigger jobs_creation_events after insert on jobs
  referencing new table as new_rows
  for each statement execute function tell_new_jobs();

-- Without enable_nestloop the join of the transition tables is a hash join: the plan of the first call
-- is kept, and for its few rows the planner would compare each with each.
create or replace function tell_job_changes() returns trigger language plpgsql
  set enable_seqscan = off set enable_nestloop = off as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select g.tenant_id, 'session/' || g.session_id, g.kind, jsonb_build_object(
    'status', g.status, 'type', g.job_type, 'stage', r.stage_key, 'iteration', r.iteration,
    'laneId', g.lane_id, 'lane', l.ordinal, 'model', l.model, 'step', g.step_key,
    'documentKey', null, 'each', g.each)
  from (
    select n.tenant_id, n.session_id, n.kind, n.status, n.job_type, n.stage_run_id, n.lane_id,
      n.step_key, min(n.seq) as seq, jsonb_agg(job_event_entry(n.id, n.chain_id, n.document_key,
        n.status, n.error, n.attempt, n.run_after) order by n.seq) as each
    from (
      select c.*, case when may_follow(o.status, c.status)
        then job_event_kind(o.status, c.status, c.continued)
        else refuse_transition(o.status, c.status) end as kind
      from new_rows c join old_rows o on o.tenant_id = c.tenant_id and o.id = c.id
      where c.status <> o.status
    ) as n
    group by n.tenant_id, n.session_id, n.kind, n.status, n.job_type, n.stage_run_id, n.lane_id,
      n.step_key
  ) as g
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = g.tenant_id and s.id = g.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = g.tenant_id and a.id = g.lane_id limit 1) as l on true
  order by g.seq;
  return null;
end
$$;

-- Fires before jobs_completion: the end of a job is told before the wake-ups that follow from it.
--
-- Twice the same, once for each role: plans hold the policies of the role that they were made for, and
-- PL/pgSQL keeps one plan of a statement for each trigger. With one trigger for both roles every claim
-- between two commits of a connection had all statements of these functions planned again.
create or replace trigger jobs_change_events after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user = 'dialectic_worker')
  execute function tell_job_changes();
create or replace trigger jobs_change_events_of_tenant after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'dialectic_worker')
  execute function tell_job_changes();

-- What the events of one job say of it, beside their own fields. One row, as a set: PostgreSQL makes it
-- part of the statement that asks, while a function that returns a value would be one of its own.
create or replace function describe_jobs(of_tenant uuid, of_job uuid)
  returns setof jsonb language sql stable rows 1 as $$
  select jsonb_build_object('jobId', j.id, 'chainId', j.chain_id, 'type', j.job_type,
    'stage', r.stage_key, 'iteration', r.iteration, 'laneId', j.lane_id, 'lane', l.ordinal,
    'model', l.model, 'step', j.step_key, 'documentKey', j.document_key)
  from jobs j
  left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
  left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
  where j.tenant_id = of_tenant and j.id = of_job
$$;
