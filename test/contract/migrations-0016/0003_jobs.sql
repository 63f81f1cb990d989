-- Sessions as the engine sees them, stage runs, lanes, jobs.
--
-- The jobs table is its own queue. A job's row changes state only along the transitions below, which
-- a trigger holds, and handle_job_completion() is the only thing that wakes anybody.

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

-- Every way on that a status has; src/jobs/transitions.ts is the same table for the program.
create function may_follow(from_status text, to_status text) returns boolean
  language sql immutable parallel safe
  return case from_status
    when 'pending' then to_status in ('processing', 'cancelled', 'failed')
    when 'retrying' then to_status in ('processing', 'cancelled', 'failed')
    when 'pending_next_step' then to_status in ('processing', 'cancelled', 'failed')
    when 'pending_continuation' then to_status in ('processing', 'cancelled', 'failed')
    when 'processing' then to_status in ('waiting_for_children', 'waiting_for_lanes', 'retrying',
      'pending', 'pending_next_step', 'completed', 'failed', 'cancelled')
    when 'waiting_for_children' then to_status in ('pending_next_step', 'cancelled', 'failed')
    when 'waiting_for_lanes' then to_status in ('pending_next_step', 'cancelled', 'failed')
    when 'waiting_for_prerequisite' then to_status in ('pending', 'cancelled', 'failed')
    when 'completed' then to_status = 'superseded'
    when 'failed' then to_status in ('pending', 'waiting_for_children', 'waiting_for_prerequisite')
    when 'cancelled' then to_status in ('pending', 'waiting_for_children', 'waiting_for_prerequisite')
    else false
  end;

create function refuse_transition() returns trigger language plpgsql as $$
begin
  raise exception 'a job that is % cannot become %', old.status, new.status
    using errcode = 'DX000', hint = 'job_transition_refused';
end
$$;
create trigger jobs_transition before update of status on jobs
  for each row when (old.status <> new.status and not may_follow(old.status, new.status))
  execute function refuse_transition();

create function is_over(status text) returns boolean
  language sql immutable parallel safe
  return status in ('completed', 'failed', 'cancelled', 'superseded');

-- The opposite, as a list that the index of a parent's children can be asked for.
create function is_open(status text) returns boolean
  language sql immutable parallel safe
  return status in ('pending', 'processing', 'retrying', 'pending_next_step',
    'pending_continuation', 'waiting_for_children', 'waiting_for_lanes', 'waiting_for_prerequisite');

create type job_place as (tenant_id uuid, id uuid);
-- What is known of a job that has just ended, for the functions that wake others.
create type job_end as (
  tenant_id uuid, id uuid, status text, counts boolean, parent_job_id uuid, chain_id uuid,
  stage_run_id uuid, lane_id uuid, step_key text, dependency_policy text
);

-- Everybody who waited for the end of a chain goes on, or fails with it.
create function wake_waiters(ended job_end[]) returns void language plpgsql as $$
begin
  update jobs w set
    status = case when e.status = 'completed' then 'pending' else 'failed' end,
    finished_at = case when e.status = 'completed' then null else app_now() end,
    error = case when e.status = 'completed' then w.error
      else jsonb_build_object('code', 'prerequisite_failed',
        'message', 'The job that this one waits for did not succeed.',
        'details', jsonb_build_object('jobId', e.id)) end
  from unnest(ended) as e
  where w.tenant_id = e.tenant_id and w.prerequisite_job_id = e.chain_id
    and w.status = 'waiting_for_prerequisite';
end
$$;

-- Parents whose last counted child has ended go on; a child's failure fails its parent at once,
-- unless the step's policy lets the run go on without it. The row lock comes before the count: two
-- last children that end at the same time would otherwise each see the other one as still open.
create function settle_parents(ended job_end[]) returns void language plpgsql as $$
declare
  tenants uuid[];
  parents uuid[];
begin
  select array_agg(distinct e.tenant_id), array_agg(distinct e.parent_job_id)
  into tenants, parents
  from unnest(ended) as e where e.parent_job_id is not null and e.counts;
  perform 1 from jobs p where p.tenant_id = any (tenants) and p.id = any (parents)
    order by p.id for update;

  if exists (select from unnest(ended) as e where e.status <> 'completed') then
    update jobs p set status = 'failed', finished_at = app_now(), lease_token = null,
      worker_id = null,
      error = jsonb_build_object('code', 'child_failed', 'message', 'A job under this one failed.',
        'details', jsonb_build_object('jobId', e.id))
    from (
      select distinct on (tenant_id, parent_job_id) tenant_id, parent_job_id, id from unnest(ended)
      where parent_job_id is not null and counts and status <> 'completed'
        and dependency_policy = 'all'
      order by tenant_id, parent_job_id, id
    ) as e
    where p.tenant_id = e.tenant_id and p.id = e.parent_job_id and not is_over(p.status);
  end if;

  perform wake_parents(array_agg(e.tenant_id), array_agg(e.parent_job_id)) from unnest(ended) as e
  where e.parent_job_id is not null and e.counts;
end
$$;

-- Those of the given jobs that wait for children and have none alive go on, or fail where too few
-- jobs of a step succeeded. Whoever calls it holds their locks.
create function wake_parents(tenants uuid[], parents uuid[]) returns void language plpgsql as $$
declare
  ready job_place[];
  one job_place;
begin
  select array_agg(row(e.tenant_id, e.id)::job_place) into ready
  from (select distinct d.tenant_id, d.id from unnest(tenants, parents) as d (tenant_id, id)) as e
  cross join lateral (
    select p.status from jobs p where p.tenant_id = e.tenant_id and p.id = e.id limit 1) as p
  where p.status = 'waiting_for_children' and not exists (
    select from jobs c where c.tenant_id = e.tenant_id and c.parent_job_id = e.id and c.counts
      and is_open(c.status));

  foreach one in array coalesce(ready, '{}') loop
    if exists (select from jobs c where c.tenant_id = one.tenant_id and c.parent_job_id = one.id
      and c.counts and c.status in ('failed', 'cancelled'))
    then
      perform wake_with_losses(one.tenant_id, one.id);
    else
      update jobs p set status = 'pending_next_step', run_after = app_now(), error = null
      where p.tenant_id = one.tenant_id and p.id = one.id;
    end if;
  end loop;
end
$$;

-- A parent some of whose children did not succeed: by each step's policy it goes on or fails.
create function wake_with_losses(of_tenant uuid, of_parent uuid) returns void language plpgsql as $$
begin
  update jobs p set
    status = case when s.missed then 'failed' else 'pending_next_step' end,
    run_after = case when s.missed then p.run_after else app_now() end,
    finished_at = case when s.missed then app_now() end,
    degraded = p.degraded or s.lost,
    error = case when s.missed then jsonb_build_object('code', 'quorum_missed',
      'message', 'Too few jobs of a step succeeded.') end
  from (
    select coalesce(bool_or(g.lost), false) as lost,
      coalesce(bool_or(g.lost and g.succeeded < g.needed), false) as missed
    from children_by_step(of_tenant, of_parent) as g
  ) as s
  where p.tenant_id = of_tenant and p.id = of_parent;
end
$$;

-- How the steps under a parent stand: links of a chain that were continued do not count.
create function children_by_step(of_tenant uuid, of_parent uuid)
  returns table (step_key text, open int, succeeded int, needed int, lost boolean)
  language sql stable as $$
  select c.step_key,
    count(*) filter (where not is_over(c.status))::int,
    count(*) filter (where c.status in ('completed', 'superseded'))::int,
    case min(c.dependency_policy)
      when 'any' then 1
      when 'quorum' then coalesce(min(c.quorum), count(*)::int / 2 + 1)
      else count(*)::int
    end,
    coalesce(bool_or(c.status in ('failed', 'cancelled')), false)
  from jobs c
  where c.tenant_id = of_tenant and c.parent_job_id = of_parent and c.counts and not c.continued
  group by c.step_key
$$;

-- A parent that is over takes what has not started with it; what runs may finish and keep its result.
create function cancel_children(ended job_end[]) returns void language plpgsql as $$
begin
  update jobs c set status = 'cancelled', finished_at = app_now(),
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

-- Lanes: notes which steps have ended and wakes whoever waits at a barrier of the stage. The stage
-- run's row is locked first, so that lanes which end together see each other.
create function settle_lanes(ended job_end[]) returns void language plpgsql as $$
begin
  perform 1 from stage_runs r
    where (r.tenant_id, r.id) in (select e.tenant_id, e.stage_run_id from unnest(ended) as e)
    order by r.id for update;

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
  select tenant_id, stage_run_id, lane_id, '*', 'failed' from unnest(ended)
  where step_key is null and lane_id is not null and stage_run_id is not null and counts
    and status in ('failed', 'cancelled')
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
      and j.lane_id is not null and j.step_key is null and j.counts and not j.continued
  ) as o
  where r.tenant_id = e.tenant_id and r.id = e.stage_run_id;

  update jobs w set status = 'pending_next_step', run_after = app_now()
  from (select distinct tenant_id, stage_run_id from unnest(ended) where stage_run_id is not null) e
  where w.tenant_id = e.tenant_id and w.stage_run_id = e.stage_run_id
    and w.status = 'waiting_for_lanes';
end
$$;

-- Notes a step that needed no job, and tells those who wait for it.
create function complete_empty_step(of_tenant uuid, of_run uuid, of_lane uuid, of_step text)
  returns void language plpgsql as $$
begin
  update stage_runs r set version = version + 1 where r.tenant_id = of_tenant and r.id = of_run;
  insert into lane_steps (tenant_id, stage_run_id, lane_id, step_key, state)
  values (of_tenant, of_run, of_lane, of_step, 'completed')
  on conflict (tenant_id, stage_run_id, lane_id, step_key) do update set state = 'completed';
  update jobs w set status = 'pending_next_step', run_after = app_now()
  where w.tenant_id = of_tenant and w.stage_run_id = of_run and w.status = 'waiting_for_lanes';
end
$$;

-- Runs after every statement that changes jobs, on every way into a terminal state.
create function handle_job_completion() returns trigger language plpgsql as $$
declare
  ended job_end[];
begin
  with changed as materialized (
    select n.tenant_id, n.id, n.session_id, n.status, n.counts, n.continued, n.parent_job_id,
      n.chain_id, n.stage_run_id, n.lane_id, n.step_key, n.dependency_policy,
      o.status as status_before
    from new_rows n join old_rows o on o.tenant_id = n.tenant_id and o.id = n.id
    where n.status <> o.status
  ), told as (
    insert into events (tenant_id, topic, kind, payload)
    select n.tenant_id, 'session/' || n.session_id, 'jobs-changed',
      jsonb_build_object('status', n.status, 'jobs', jsonb_agg(n.id))
    from changed n group by n.tenant_id, n.session_id, n.status
  )
  select array_agg(row(n.tenant_id, n.id, n.status, n.counts, n.parent_job_id, n.chain_id,
    n.stage_run_id, n.lane_id, n.step_key, n.dependency_policy)::job_end)
  into ended
  from changed n
  where n.status in ('completed', 'failed', 'cancelled') and not is_over(n.status_before)
    and not n.continued;
  if ended is null then
    return null;
  end if;

  if exists (select from unnest(ended) as e where e.stage_run_id is not null) then
    perform settle_lanes(ended);
  end if;
  if exists (select from unnest(ended) as e where e.parent_job_id is not null and e.counts) then
    perform settle_parents(ended);
  end if;
  -- Whoever inserts a waiter knows the first link and locks it, so the end of a later one must too.
  if exists (select from unnest(ended) as e where e.chain_id <> e.id) then
    perform 1 from jobs f
      where (f.tenant_id, f.id) in (select e.tenant_id, e.chain_id from unnest(ended) as e)
      order by f.id for update;
  end if;
  perform wake_waiters(ended);
  if exists (select from unnest(ended) as e where e.status <> 'completed') then
    perform cancel_children(ended);
  end if;
  return null;
end
$$;
create trigger jobs_completion after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement execute function handle_job_completion();

create type job_wait as (tenant_id uuid, id uuid, parent_job_id uuid, prerequisite_job_id uuid);

-- Whether a new child waits, by however many prerequisites, for a living job above it, which in turn
-- waits for its children. Circles of prerequisites alone cannot come to be: each must exist before.
create function waits_for_itself(added job_wait[]) returns boolean language sql stable as $$
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

-- New jobs: a child needs a living parent, and a lane's step begins with its first job. The share
-- locks make whoever ends the parent or the prerequisite wait, and then see the new row.
create function handle_job_insertion() returns trigger language plpgsql as $$
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
  where counts and parent_job_id is not null and stage_run_id is not null
    and lane_id is not null and step_key is not null
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
    update jobs c set status = 'cancelled', finished_at = app_now(),
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
create trigger jobs_insertion after insert on jobs
  referencing new table as new_rows
  for each statement execute function handle_job_insertion();

-- Due jobs of sessions whose gates are open, in equal shares, so that a large run does not starve a
-- small one; what the small ones leave goes to the others in the second pass. Sessions are drawn by
-- lot where there are more than the batch has room for; a few more than that, since limits by key may
-- leave some without anything.
create function claim_jobs(for_worker uuid, batch int, lease interval, only_session uuid)
  returns setof jobs language plpgsql as $$
declare
  remaining int := batch;
  share int;
  got int;
  sessions int;
  free uuid[];
  limited uuid[];
  limited_first boolean;
  one uuid;
begin
  select coalesce(array_agg(d.id) filter (where not d.is_limited), '{}'),
    coalesce(array_agg(d.id) filter (where d.is_limited), '{}')
  into free, limited
  from (
    select x.id, x.max_running is not null or exists (
      select from concurrency_limits l where l.tenant_id = x.tenant_id) as is_limited
    from sessions x
    where x.status = 'running' and x.gates = '{}'
      and (only_session is null or x.id = only_session)
      and exists (select from jobs j where j.session_id = x.id and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation'))
      and (x.max_running is null or x.max_running > (select count(*) from jobs j
        where j.session_id = x.id and j.status = 'processing'))
    order by random() limit greatest(batch, 50)
  ) as d;

  sessions := cardinality(free) + cardinality(limited);
  share := (batch + sessions - 1) / greatest(1, sessions);
  -- Shares are rounded up, so whoever comes last may find nothing left: that is drawn by lot, too.
  limited_first := random() < 0.5;
  for turn in 1..4 loop
    exit when remaining <= 0 or sessions = 0;
    if limited_first = (turn % 2 = 1) then
      foreach one in array limited loop
        exit when remaining <= 0;
        return query select * from claim_limited(for_worker, one, least(share, remaining), lease);
        get diagnostics got = row_count;
        remaining := remaining - got;
      end loop;
    elsif cardinality(free) > 0 then
      return query select * from claim_due(for_worker, free, share, remaining, lease);
      get diagnostics got = row_count;
      remaining := remaining - got;
    end if;
    exit when turn = 2 and sessions = 1;
    if turn = 2 then
      share := remaining;
    end if;
  end loop;
end
$$;

-- The oldest due jobs of some sessions. They are found and locked once and then taken by their place:
-- a join would be planned for as many rows as the table has.
create function claim_due(
  for_worker uuid, of_sessions uuid[], share int, room int, lease interval
) returns setof jobs language plpgsql as $$
begin
  return query
    update jobs j set status = 'processing', worker_id = for_worker,
      lease_token = gen_random_uuid(), lease_until = app_now() + lease,
      started_at = coalesce(j.started_at, app_now())
    where j.ctid = any (array(
      select d.place from unnest(of_sessions) as s (id) cross join lateral (
        select c.ctid as place from jobs c
        where c.session_id = s.id and c.run_after <= app_now()
          and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        order by c.run_after, c.seq limit share for update skip locked) as d
      limit room))
    returning j.*;
end
$$;

-- The same for a session with a limit or a tenant with limits by key: never more running jobs than
-- they allow. One worker claims them at a time, which is what makes the limits strict.
create function claim_limited(for_worker uuid, of_session uuid, room int, lease interval)
  returns setof jobs language plpgsql as $$
declare
  of_tenant uuid;
  allowed int;
begin
  select x.tenant_id, x.max_running into of_tenant, allowed from sessions x
    where x.id = of_session and x.status = 'running' and x.gates = '{}';
  if allowed is not null then
    perform 1 from sessions x where x.tenant_id = of_tenant and x.id = of_session
      for no key update skip locked;
    if not found then
      return;
    end if;
    room := least(room, allowed - (select count(*) from jobs j
      where j.session_id = of_session and j.status = 'processing'));
  end if;
  if room <= 0 then
    return;
  end if;
  if not exists (select from concurrency_limits l where l.tenant_id = of_tenant) then
    return query select * from claim_due(for_worker, array[of_session], room, room, lease);
    return;
  end if;
  if not pg_try_advisory_xact_lock(hashtextextended(of_tenant::text, 1)) then
    return;
  end if;
  return query
    with candidates as (
      select j.id, j.run_after, j.seq, l.max_running,
        row_number() over (partition by j.concurrency_key order by j.run_after, j.seq) as nth,
        (select count(*) from jobs r where r.tenant_id = of_tenant and r.status = 'processing'
          and r.concurrency_key = j.concurrency_key) as running
      from jobs j left join concurrency_limits l
        on l.tenant_id = of_tenant and l.key = j.concurrency_key
      where j.session_id = of_session and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
    ), due as (
      select j.id from jobs j
      where j.tenant_id = of_tenant
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        and j.id in (select c.id from candidates c
          where c.max_running is null or c.nth <= c.max_running - c.running
          order by c.run_after, c.seq limit room)
      for update skip locked)
    update jobs j set status = 'processing', worker_id = for_worker,
      lease_token = gen_random_uuid(), lease_until = app_now() + lease,
      started_at = coalesce(j.started_at, app_now())
    from due where j.tenant_id = of_tenant and j.id = due.id
    returning j.*;
end
$$;

-- Ends jobs that had no effects but their end, as one statement for many; returns those whose lease
-- still held.
create function complete_jobs(tenants uuid[], ids uuid[], tokens uuid[])
  returns setof uuid language plpgsql as $$
begin
  return query
    update jobs j set status = 'completed', finished_at = app_now(), error = null,
      worker_id = null, lease_token = null, lease_until = null
    where j.tenant_id = any (tenants) and j.id = any (ids) and j.lease_token = any (tokens)
    returning j.id;
end
$$;

-- Cancels what lives of a session. Children come before their parents, as for a worker that ends one;
-- where that does not help, the others go first. The last look finds what was inserted meanwhile.
create function cancel_jobs(of_tenant uuid, of_session uuid) returns void language plpgsql as $$
begin
  loop
    begin
      perform 1 from jobs j
        where j.tenant_id = of_tenant and j.session_id = of_session and not is_over(j.status)
        order by j.seq desc for update;
      update jobs j set status = 'cancelled', finished_at = app_now(),
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

-- Extends the leases that a worker works under and says which it still has. Its other rows are those
-- that it could not settle: their leases must run out. Rows that are locked are being committed by
-- the worker itself at this moment.
create function extend_leases(of_worker uuid, tokens uuid[], lease interval)
  returns setof uuid language plpgsql as $$
begin
  return query select j.lease_token from jobs j
    where j.worker_id = of_worker and j.status = 'processing';
  with mine as (
    select j.tenant_id, j.id from jobs j
    where j.worker_id = of_worker and j.status = 'processing' and j.lease_token = any (tokens)
    for update skip locked)
  update jobs j set lease_until = app_now() + lease
  from mine where j.tenant_id = mine.tenant_id and j.id = mine.id;
end
$$;

-- Takes jobs back from workers whose lease ran out or, on a server, whose connection is gone: each
-- living worker holds an advisory lock on its id for as long as it is connected. Takeovers are not
-- attempts, so kills alone never fail a job; one that keeps killing its worker is slowed down.
create function requeue_abandoned(by_worker uuid, look_for_locks boolean)
  returns bigint language sql as $$
  with gone as materialized (
    select w.worker_id from (
      select distinct j.worker_id from jobs j
      where j.status = 'processing' and j.worker_id <> by_worker) as w
    where look_for_locks
      and pg_try_advisory_xact_lock(hashtextextended(w.worker_id::text, 0))
  ), taken as (
    select j.tenant_id, j.id from jobs j
    where j.status = 'processing'
      and (j.lease_until < app_now() or j.worker_id in (select worker_id from gone))
    for update skip locked
  ), requeued as (
    update jobs j set status = 'pending', takeovers = j.takeovers + 1,
      worker_id = null, lease_token = null, lease_until = null,
      run_after = app_now() + case when j.takeovers < 20 then interval '0'
        else least(10, j.takeovers - 19) * interval '1 second' end
    from taken where j.tenant_id = taken.tenant_id and j.id = taken.id
    returning 1
  )
  select count(*) from requeued
$$;

-- A plan that was made while the table was small is kept and would read all of it once it has grown;
-- an embedded database has nobody who looks at tables and makes new plans.
alter function handle_job_completion() set enable_seqscan = off;
alter function handle_job_insertion() set enable_seqscan = off;
alter function claim_jobs(uuid, int, interval, uuid) set enable_seqscan = off;
alter function complete_jobs(uuid[], uuid[], uuid[]) set enable_seqscan = off;
alter function extend_leases(uuid, uuid[], interval) set enable_seqscan = off;
alter function requeue_abandoned(uuid, boolean) set enable_seqscan = off;
alter function cancel_jobs(uuid, uuid) set enable_seqscan = off;
