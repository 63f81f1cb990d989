-- What a job stands for and why it was cancelled become columns, statuses are checked, and the lock on
-- a stage run no longer collides with the foreign key of a job that is being inserted.

alter table jobs
  add column role text not null default 'step' check (role in ('stage', 'lane', 'step')),
  add column cancel_reason text check (cancel_reason in ('parent_ended', 'session_cancelled'));

-- Policies hold for the owner of a table, too, unless it is the superuser: it must see all rows here.
alter table jobs no force row level security;
-- A RENDER job belongs to the step of the document that it renders.
update jobs r set step_key = p.step_key from jobs p
where r.job_type = 'RENDER' and r.step_key is null
  and p.tenant_id = r.tenant_id and p.id = r.parent_job_id;
update jobs set role = case when lane_id is not null then 'lane' else 'stage' end
where step_key is null and job_type = 'PLAN' and stage_run_id is not null;
update jobs set cancel_reason = case error->>'code' when 'parent_ended' then 'parent_ended'
  else 'session_cancelled' end
where status = 'cancelled';
alter table jobs force row level security;

alter table jobs
  add constraint jobs_status_known check (status in ('pending', 'processing', 'retrying',
    'pending_next_step', 'pending_continuation', 'waiting_for_children', 'waiting_for_lanes',
    'waiting_for_prerequisite', 'completed', 'failed', 'cancelled', 'superseded')),
  add constraint jobs_cancel_reason_given
    check ((status = 'cancelled') = (cancel_reason is not null)),
  -- A stage's job plans its lanes, a lane's root plans its steps; other jobs of a lane name a step.
  add constraint jobs_role_fits check (case role
    when 'stage' then job_type = 'PLAN' and stage_run_id is not null
      and lane_id is null and step_key is null
    when 'lane' then job_type = 'PLAN' and stage_run_id is not null
      and lane_id is not null and step_key is null
    else lane_id is null or step_key is not null end);

drop index jobs_lane_roots;
create index jobs_lane_roots on jobs (stage_run_id) where role = 'lane';

drop trigger jobs_fail_session on jobs;
create trigger jobs_fail_session after update of status on jobs
  for each row when (new.status = 'failed' and old.status <> 'failed' and new.role = 'stage')
  execute function fail_session();

-- Lanes: notes which steps have ended and wakes every lane that waits at a barrier of the stage. The
-- stage run's row is locked first, so that lanes which end together see each other. FOR NO KEY UPDATE:
-- inserting a job takes FOR KEY SHARE on the stage run for its foreign key, and two jobs that each
-- insert a child and then end would otherwise wait for each other's share lock.
create or replace function settle_lanes(ended job_end[]) returns void language plpgsql as $$
begin
  perform 1 from stage_runs r
    where (r.tenant_id, r.id) in (select e.tenant_id, e.stage_run_id from unnest(ended) as e)
    order by r.id for no key update;

  update lane_steps l set
    state = case when g.lost and g.succeeded < g.needed then 'failed' else 'completed' end,
    degraded = g.lost and g.succeeded >= g.needed
  from (
    select distinct tenant_id, stage_run_id, lane_id, parent_job_id, step_key
    from unnest(ended) where counts and lane_id is not null and parent_job_id is not null
  ) as e
  cross join lateral children_by_step(e.tenant_id, e.parent_job_id) as g
  where g.step_key = e.step_key and (g.open = 0 or (g.lost and g.needed > g.succeeded + g.open))
    and l.tenant_id = e.tenant_id and l.stage_run_id = e.stage_run_id
    and l.lane_id = e.lane_id and l.step_key = e.step_key;

  insert into lane_steps (tenant_id, stage_run_id, lane_id, step_key, state)
  select j.tenant_id, j.stage_run_id, j.lane_id, '*', 'failed' from unnest(ended) as e
  join jobs j on j.tenant_id = e.tenant_id and j.id = e.id
  where j.role = 'lane' and e.status in ('failed', 'cancelled')
  on conflict (tenant_id, stage_run_id, lane_id, step_key) do update set state = 'failed';

  update stage_runs r set version = version + 1,
    state = coalesce(o.outcome, r.state), degraded = r.degraded or coalesce(o.lost, false),
    finished_at = case when o.outcome is null then r.finished_at else app_now() end
  from (select distinct tenant_id, stage_run_id from unnest(ended) where stage_run_id is not null) e
  cross join lateral (
    select case when bool_and(is_over(j.status)) then
        case when bool_or(j.status in ('completed', 'superseded')) then 'completed'
          when bool_or(j.status = 'failed') then 'failed' else 'cancelled' end
      end as outcome,
      bool_or(j.status in ('failed', 'cancelled') or j.degraded) as lost
    from jobs j
    where j.tenant_id = e.tenant_id and j.stage_run_id = e.stage_run_id
      and j.role = 'lane' and not j.continued
  ) as o
  where r.tenant_id = e.tenant_id and r.id = e.stage_run_id;

  update jobs w set status = 'pending_next_step', run_after = app_now()
  from (select distinct tenant_id, stage_run_id from unnest(ended) where stage_run_id is not null) e
  where w.tenant_id = e.tenant_id and w.stage_run_id = e.stage_run_id
    and w.status = 'waiting_for_lanes';
end
$$;

-- A parent that failed or was cancelled cancels the children that have not started; those that run may
-- finish and keep their result.
create or replace function cancel_children(ended job_end[]) returns void language plpgsql as $$
begin
  update jobs c set status = 'cancelled', cancel_reason = 'parent_ended',
    finished_at = app_now(),
    error = jsonb_build_object('code', 'parent_ended',
      'message', 'The job above this one ended before it could start.',
      'details', jsonb_build_object('jobId', e.id))
  from unnest(ended) as e
  where e.status in ('failed', 'cancelled') and c.tenant_id = e.tenant_id
    and c.parent_job_id = e.id and c.counts
    and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation',
      'waiting_for_children', 'waiting_for_lanes', 'waiting_for_prerequisite');
end
$$;

-- New jobs: a child needs a living parent, and a lane's step begins with its first job. The share
-- locks make the worker that ends the parent or the prerequisite wait, and then see the new row.
create or replace function handle_job_insertion() returns trigger language plpgsql as $$
declare
  named job_place[];
  found_jobs int;
begin
  select array_agg(distinct row(n.tenant_id, r.id)::job_place) into named
  from new_rows n
  cross join lateral unnest(array[n.parent_job_id, n.prerequisite_job_id, n.chain_id]) as r (id)
  where r.id <> n.id;
  if named is not null then
    perform 1 from unnest(named) as r join jobs p on p.tenant_id = r.tenant_id and p.id = r.id
      order by p.id for share of p;
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
  select distinct tenant_id, stage_run_id, lane_id, step_key, 'running' from new_rows
  where role = 'step' and counts and parent_job_id is not null and stage_run_id is not null
    and lane_id is not null
  on conflict (tenant_id, stage_run_id, lane_id, step_key)
    do update set state = 'running', degraded = false;

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

-- Cancels what lives of a session. Locks children before parents, the order in which a completing
-- worker takes them; on deadlock this statement is the victim and tries again. The last turn finds what
-- was inserted meanwhile.
create or replace function cancel_jobs(of_tenant uuid, of_session uuid)
  returns void language plpgsql as $$
begin
  loop
    begin
      perform 1 from jobs j
        where j.tenant_id = of_tenant and j.session_id = of_session and not is_over(j.status)
        order by j.seq desc for update;
      update jobs j set status = 'cancelled', cancel_reason = 'session_cancelled',
        finished_at = app_now(),
        worker_id = null, lease_token = null, lease_until = null,
        error = '{"code": "session_cancelled", "message": "The session was cancelled."}'
      where j.tenant_id = of_tenant and j.session_id = of_session and not is_over(j.status);
      exit when not found;
    exception when deadlock_detected then
      null;
    end;
  end loop;
end
$$;

-- CREATE OR REPLACE drops a function's settings: see the end of migration 0003.
alter function handle_job_insertion() set enable_seqscan = off;
alter function cancel_jobs(uuid, uuid) set enable_seqscan = off;
