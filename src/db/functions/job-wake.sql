-- Waking: what the end of a job means for its parent, its waiters and its lane. Nothing else wakes a
-- job.

-- Runs after every statement that changes jobs, on every way into a terminal state, and looks after jobs
-- that begin to wait. Lock order: stage runs, then parents, then the first links of chains. `not in` is
-- hashed; a join of the two transition tables keeps the plan of its first call, for one row, and then
-- compares each row with each.
create or replace function handle_job_completion() returns trigger language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  ended job_end[];
  chains uuid[];
  suspended uuid[];
  parents uuid[];
  runs uuid[];
  tenants uuid[];
  has_lanes boolean;
  has_links boolean;
  has_losses boolean;
begin
  select array_agg(n.ended) filter (where n.is_end),
    array_agg(n.chain_id) filter (where n.is_end),
    array_agg(n.id) filter (where not n.is_end),
    array_agg(n.parent_job_id) filter (where n.is_end and n.parent_job_id is not null and n.counts),
    array_agg(n.stage_run_id) filter (where n.is_end and n.stage_run_id is not null),
    array_agg(n.tenant_id),
    bool_or(n.role = 'lane'), bool_or(n.chain_id <> n.id),
    bool_or(n.status in ('failed', 'cancelled'))
  into ended, chains, suspended, parents, runs, tenants, has_lanes, has_links, has_losses
  from (
    select n.*, n.status <> 'waiting_for_children' as is_end, row(n.tenant_id, n.id, n.status,
      n.counts, n.parent_job_id, n.chain_id, n.stage_run_id, n.lane_id, n.step_key,
      n.dependency_policy)::job_end as ended
    from new_rows n
  ) as n
  where (n.status in ('completed', 'failed', 'cancelled') and not n.continued
      and (n.tenant_id, n.id) not in (
        select o.tenant_id, o.id from old_rows o where is_over(o.status)))
    or n.status = 'waiting_for_children';
  -- With nothing to wait for a parent would sleep for ever.
  if suspended is not null then
    perform wake_parents(tenants, suspended);
  end if;
  if ended is null then
    return null;
  end if;

  if runs is not null then
    perform settle_lanes(ended, tenants, runs, has_lanes, has_losses);
  end if;
  -- The row lock comes before the count: two last children that end at the same time would otherwise
  -- each see the other one as still open.
  if parents is not null then
    perform 1 from jobs p where p.tenant_id = any (tenants) and p.id = any (parents)
      order by p.id for update;
    if has_losses then
      perform fail_parents(ended);
    end if;
    perform wake_parents(tenants, parents);
  end if;
  -- An insert of a waiter locks the chain's first link, so the end of a later link must lock it, too.
  if has_links then
    perform 1 from jobs f
      where (f.tenant_id, f.id) in (select e.tenant_id, e.chain_id from unnest(ended) as e)
      order by f.id for update;
  end if;
  -- An update of no rows would fire the triggers of jobs all the same.
  if exists (select from unnest(chains) as c (id) cross join lateral (
    select from jobs w where w.prerequisite_job_id = c.id and w.status = 'waiting_for_prerequisite'
    limit 1) as w)
  then
    perform wake_waiters(ended);
  end if;
  if has_losses then
    perform cancel_children(ended);
  end if;
  return null;
end
$$;
-- One for each role, as the triggers of jobs_change_events.
create or replace trigger jobs_completion after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user = 'dialectic_worker')
  execute function handle_job_completion();
create or replace trigger jobs_completion_of_tenant after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement when (current_user <> 'dialectic_worker')
  execute function handle_job_completion();

-- A child's failure fails its parent at once, unless the step's policy lets the run go on without it. The
-- caller holds the locks of the parents.
create or replace function fail_parents(ended job_end[]) returns void language plpgsql as $$
begin
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
end
$$;

-- Parents: those of the given jobs that wait for children and have none alive go on, or are over where
-- they have nothing left to do, or fail where too few jobs of a step succeeded. The caller holds their
-- locks, so their places (ctid) stay. All that go on do so in one statement, since every statement fires
-- the triggers of jobs. Children are asked for by sub-selects with a limit: as `exists` they became a
-- join that read every open job of the store.
create or replace function wake_parents(tenants uuid[], parents uuid[])
  returns void language plpgsql as $$
declare
  whole tid[];
  lossy job_place[];
  one job_place;
begin
  select array_agg(w.place) filter (where not w.lost),
    array_agg(row(w.tenant_id, w.id)::job_place) filter (where w.lost)
  into whole, lossy
  from (
    select p.tenant_id, p.id, p.ctid as place, (
      select true from jobs c where c.tenant_id = p.tenant_id and c.parent_job_id = p.id
        and c.counts and c.status in ('failed', 'cancelled') limit 1) is not null as lost
    from jobs p
    where p.tenant_id = any (tenants) and p.id = any (parents)
      and p.status = 'waiting_for_children' and (
        select true from jobs c where c.tenant_id = p.tenant_id and c.parent_job_id = p.id
          and c.counts and is_open(c.status) limit 1) is null
    offset 0
  ) as w;

  if whole is not null then
    update jobs p set
      status = case when p.ends_with_children then 'completed' else 'pending_next_step' end,
      finished_at = case when p.ends_with_children then app_now() end,
      run_after = app_now(), error = null
    where p.ctid = any (whole);
  end if;
  foreach one in array coalesce(lossy, '{}') loop
    perform wake_with_losses(one.tenant_id, one.id);
  end loop;
end
$$;

-- A parent some of whose children did not succeed: by each step's policy it goes on or fails.
create or replace function wake_with_losses(of_tenant uuid, of_parent uuid)
  returns void language plpgsql as $$
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
create or replace function children_by_step(of_tenant uuid, of_parent uuid)
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

-- Jobs that waited for the end of a chain go on, or fail with it; with the first of them that goes on
-- their step begins.
create or replace function wake_waiters(ended job_end[]) returns void language plpgsql as $$
begin
  update lane_steps l set state = 'running'
  from unnest(ended) as e
  join jobs w on w.tenant_id = e.tenant_id and w.prerequisite_job_id = e.chain_id
    and w.status = 'waiting_for_prerequisite'
  where e.status = 'completed' and l.state = 'waiting' and l.tenant_id = w.tenant_id
    and l.stage_run_id = w.stage_run_id and l.lane_id = w.lane_id and l.step_key = w.step_key;
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
