-- What must hold of new jobs, and what their insertion sets in motion.

-- Whether a new child waits, by however many prerequisites, for a living job above it, which in turn
-- waits for its children. Circles of prerequisites alone cannot come to be: each must exist before.
create or replace function waits_for_itself(added job_wait[])
  returns boolean language sql stable as $$
  with recursive above (child, tenant_id, id) as (
    select n.id, n.tenant_id, n.parent_job_id from unnest(added) as n
    union
    select a.child, p.tenant_id, p.parent_job_id from above a
    join jobs p on p.tenant_id = a.tenant_id and p.id = a.id where p.parent_job_id is not null
  ), before (child, tenant_id, id) as (
    select n.id, n.tenant_id, n.prerequisite_job_id from unnest(added) as n
    union
    select b.child, p.tenant_id, p.prerequisite_job_id from before b
    join jobs p on p.tenant_id = b.tenant_id and p.id = b.id
    where p.status = 'waiting_for_prerequisite'
  )
  select exists (
    select from above a
    join jobs p on p.tenant_id = a.tenant_id and p.id = a.id and not is_over(p.status)
    join before b on b.child = a.child and b.tenant_id = p.tenant_id and b.id = p.chain_id)
$$;

-- Inserts jobs and returns those that were not there yet. `families` lists jobs with what they share;
-- what is absent has its default, and a job without `chain_id` begins its own chain. A function, so that
-- a connection plans it once: the statement itself was planned anew for its first five uses.
create or replace function insert_jobs(families jsonb) returns setof uuid language plpgsql
  set plan_cache_mode = force_generic_plan as $$
begin
  return query
    insert into jobs (tenant_id, id, session_id, stage_run_id, lane_id, step_key, job_type, role,
      status, parent_job_id, prerequisite_job_id, chain_id, dependency_policy, quorum,
      concurrency_key, max_attempts, input_digest, idempotency_key, document_key,
      document_identity, source_group, responding_lane_id, payload, ends_with_children)
    select current_tenant(), n.id, f.session_id, f.stage_run_id, f.lane_id, n.step_key, n.job_type,
      coalesce(n.role, 'step'), coalesce(n.status, 'pending'), f.parent_job_id,
      n.prerequisite_job_id, coalesce(n.chain_id, n.id), coalesce(n.dependency_policy, 'all'),
      n.quorum, n.concurrency_key, n.max_attempts, n.input_digest, n.idempotency_key,
      n.document_key, n.document_identity, n.source_group, n.responding_lane_id, n.payload,
      coalesce(n.ends_with_children, false)
    from jsonb_to_recordset(families->'rows') as f (session_id uuid, stage_run_id uuid,
      lane_id uuid, parent_job_id uuid, jobs jsonb)
    cross join lateral jsonb_to_recordset(f.jobs) as n (id uuid, step_key text, job_type text,
      role text, status text, prerequisite_job_id uuid, chain_id uuid, dependency_policy text,
      quorum int, concurrency_key text, max_attempts int, input_digest text,
      idempotency_key text, document_key text, document_identity text, source_group uuid,
      responding_lane_id uuid, payload jsonb, ends_with_children boolean)
    on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
    returning jobs.id;
end
$$;

-- A job without its session would never run and never be erased. Checked once for all new jobs of a
-- session, under the lock of a foreign key; such a key asked for each job and took a seventh of the time
-- of an insertion.
create or replace function refuse_deletion_of_busy_sessions() returns trigger language plpgsql as $$
begin
  if exists (select from old_rows o cross join lateral (
    select from jobs j where j.tenant_id = o.tenant_id and j.session_id = o.id limit 1) as j)
  then
    raise exception 'a session that has jobs cannot be deleted' using errcode = '23503';
  end if;
  return null;
end
$$;
create or replace trigger sessions_of_jobs after delete on sessions
  referencing old table as old_rows
  for each statement execute function refuse_deletion_of_busy_sessions();

-- New jobs: each has its session, a child needs a living parent, and a lane's step begins with its first
-- job that does not wait for another. The share locks make the worker that ends the parent or the
-- prerequisite wait, and then see the new row.
create or replace function handle_job_insertion() returns trigger language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  named job_place[];
  named_tenants uuid[];
  named_ids uuid[];
  found_jobs int;
begin
  if exists (
    select from (select distinct tenant_id, session_id from new_rows) as n
    left join lateral (select true as found from sessions x
      where x.tenant_id = n.tenant_id and x.id = n.session_id for key share) as x on true
    where x.found is null)
  then
    raise exception 'a job names a session that is not there' using errcode = '23503';
  end if;
  -- A plan that waits from the beginning is woken by its children alone: they come with it. This is not
  -- asked of stages: builds before edition 29 insert the roots of lanes with the next statement.
  if exists (select from new_rows n where n.status = 'waiting_for_children' and n.job_type = 'PLAN'
    and n.role <> 'stage'
    and n.id not in (select c.parent_job_id from new_rows c where c.parent_job_id is not null))
  then
    raise exception 'a job waits for children that do not come with it'
      using errcode = 'DX000', hint = 'internal_error';
  end if;
  select array_agg(row(r.tenant_id, r.id)::job_place), array_agg(r.tenant_id), array_agg(r.id)
  into named, named_tenants, named_ids
  from (
    select n.tenant_id, n.parent_job_id as id from new_rows n where n.parent_job_id <> n.id
    union
    select n.tenant_id, n.prerequisite_job_id from new_rows n where n.prerequisite_job_id <> n.id
    union
    select n.tenant_id, n.chain_id from new_rows n where n.chain_id <> n.id
  ) as r;
  -- A link whose parent has ended ends at once, and locks its stage run, which comes before parents.
  if exists (select from new_rows where chain_id <> id and parent_job_id is not null) then
    perform 1 from stage_runs r
      where (r.tenant_id, r.id) in (select n.tenant_id, n.stage_run_id from new_rows n
        where n.chain_id <> n.id and n.parent_job_id is not null)
      order by r.id for no key update;
  end if;
  if named is not null then
    -- Conditions on both columns of the key, not a join: beside the policy's condition on the tenant the
    -- planner would take the id for a filter and read all jobs of the tenant.
    perform 1 from jobs p where p.tenant_id = any (named_tenants) and p.id = any (named_ids)
      and row(p.tenant_id, p.id)::job_place = any (named)
      order by p.id for share;
    get diagnostics found_jobs = row_count;
    if found_jobs < cardinality(named) then
      raise exception 'a job names another one that is not there'
        using errcode = 'DX000', hint = 'not_found';
    end if;
    if exists (
      select from (select distinct tenant_id, parent_job_id as id from new_rows
        where counts and chain_id = id and parent_job_id is not null) as r
      cross join lateral (
        select p.status from jobs p where p.tenant_id = r.tenant_id and p.id = r.id limit 1) as p
      where is_over(p.status)
    ) then
      raise exception 'a job that is over cannot get children'
        using errcode = 'DX000', hint = 'parent_finished';
    end if;
  end if;

  if exists (select from new_rows where parent_job_id is not null and prerequisite_job_id is not null)
    and waits_for_itself(array(select row(tenant_id, id, parent_job_id, prerequisite_job_id)::job_wait
      from new_rows where parent_job_id is not null and prerequisite_job_id is not null))
  then
    raise exception 'a job waits for one that cannot end before it'
      using errcode = 'DX000', hint = 'job_cycle';
  end if;

  insert into lane_steps (tenant_id, stage_run_id, lane_id, step_key, state)
  select tenant_id, stage_run_id, lane_id, step_key,
    case when bool_and(status = 'waiting_for_prerequisite') then 'waiting' else 'running' end
  from new_rows
  where role = 'step' and counts and parent_job_id is not null and stage_run_id is not null
    and lane_id is not null
  group by tenant_id, stage_run_id, lane_id, step_key
  on conflict (tenant_id, stage_run_id, lane_id, step_key)
    do update set degraded = false, state = case
      when excluded.state = 'waiting' and lane_steps.state = 'running' then 'running'
      else excluded.state end;

  -- A prerequisite that is over already has woken its waiters before this one was there.
  if exists (select from new_rows where status = 'waiting_for_prerequisite') then
    perform wake_waiters(array_agg(
      row(p.tenant_id, p.id, case when p.status = 'superseded' then 'completed' else p.status end,
        p.counts, p.parent_job_id, p.chain_id, p.stage_run_id, p.lane_id, p.step_key,
        p.dependency_policy)::job_end))
    from (select distinct tenant_id, prerequisite_job_id from new_rows
      where status = 'waiting_for_prerequisite') as n
    join jobs p on p.tenant_id = n.tenant_id and (p.id = n.prerequisite_job_id
      or (p.chain_id = n.prerequisite_job_id and p.chain_id <> p.id))
    where is_over(p.status) and not p.continued;
  end if;

  -- The next link of a chain that ran when its parent ended: what was written stays, and a retry
  -- goes on from there.
  if exists (select from new_rows where chain_id <> id and parent_job_id is not null) then
    update jobs c set status = 'cancelled', cancel_reason = 'parent_ended',
      finished_at = app_now(),
      error = jsonb_build_object('code', 'parent_ended',
        'message', 'The job above this one ended before it could start.',
        'details', jsonb_build_object('jobId', p.id))
    from new_rows n join jobs p on p.tenant_id = n.tenant_id and p.id = n.parent_job_id
    where n.chain_id <> n.id and n.counts and p.status in ('failed', 'cancelled')
      and c.tenant_id = n.tenant_id and c.id = n.id;
  end if;
  return null;
end
$$;
create or replace trigger jobs_insertion after insert on jobs
  referencing new table as new_rows
  for each statement execute function handle_job_insertion();
