-- Leases: extending them, and taking jobs over from workers that are gone.

-- Locks the rows of jobs that this transaction settles: a worker that completes one of their children, or
-- a cancellation, is ordered wholly before or wholly after. It raises where a lease is gone, since
-- the statements behind it are sent with it and with the commit. Not by bitmaps: the planner would read
-- all running jobs, and dead entries of jobs_running, beside those that the key finds.
create or replace function hold_leases(ids uuid[], tokens uuid[]) returns void language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  lost uuid;
begin
  perform set_config('dialectic.quiet', 'on', true);
  with held as (
    select j.id from jobs j
    where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
      and j.status = 'processing'
    order by j.seq desc for update)
  select l.id into lost from unnest(ids) as l (id)
  where l.id not in (select h.id from held h) limit 1;
  if found then
    perform refuse_lease(lost);
  end if;
end
$$;

-- The same for a transaction that only needs the jobs not to be taken over meanwhile.
create or replace function require_leases(ids uuid[], tokens uuid[]) returns void language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan as $$
declare
  lost uuid;
begin
  with held as (
    select j.id from jobs j
    where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
      and j.status = 'processing'
    order by j.seq desc for share)
  select l.id into lost from unnest(ids) as l (id)
  where l.id not in (select h.id from held h) limit 1;
  if found then
    perform refuse_lease(lost);
  end if;
end
$$;

create or replace function refuse_lease(of_job uuid) returns void language plpgsql as $$
begin
  raise exception 'Job % is no longer held by this worker.', of_job
    using errcode = 'DX000', hint = 'lease_lost';
end
$$;

-- Extends the leases that a worker works under and says which it still has. Its other rows are those
-- that it could not settle: their leases must run out. Rows that are locked are being committed by
-- the worker itself at this moment.
create or replace function extend_leases(of_worker uuid, tokens uuid[], lease interval)
  returns setof uuid language plpgsql
  set enable_seqscan = off as $$
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

-- Puts jobs of dead workers back. Takeovers are not attempts, and a commit that lets the job go on
-- starts their count anew; but a job that was taken over `most` times without one fails: it may be
-- what ends its workers. From the sixth takeover on a job rests, and those of one worker rest for
-- different times, so that a job which ends its worker does not take the same others with it again.
-- A tenant may write any number into its rows: a sum that overflowed would end the takeover of all
-- tenants' jobs. Lock order: stage runs, then jobs.
create or replace function take_over(tokens uuid[], most int) returns bigint language plpgsql
  set enable_seqscan = off as $$
declare
  taken bigint;
begin
  perform 1 from stage_runs r where (r.tenant_id, r.id) in (
      select j.tenant_id, j.stage_run_id from jobs j
      where j.status = 'processing' and j.lease_token = any (tokens) and j.takeovers >= most)
    order by r.id for no key update;

  with locked as (
    select j.tenant_id, j.id, j.seq, least(j.takeovers, 2147483646) as takeovers from jobs j
    where j.status = 'processing' and j.lease_token = any (tokens)
    order by j.seq for update skip locked
  ), ranked as (
    select l.tenant_id, l.id, l.takeovers >= most as fails, l.takeovers + 1 as takeovers,
      case when l.takeovers < 5 then 0 else least(60, (l.takeovers - 4)
        * count(*) filter (where l.takeovers >= 5) over (order by l.seq)) end as rest_s
    from locked l
  ), changed as (
    update jobs j set status = case when r.fails then 'failed' else 'pending' end,
      takeovers = r.takeovers, worker_id = null, lease_token = null, lease_until = null,
      run_after = app_now() + r.rest_s * interval '1 second',
      finished_at = case when r.fails then app_now() end,
      error = case when r.fails then jsonb_build_object('code', 'takeovers_exhausted',
        'message', format('%s workers in a row died or lost their lease while they ran this job.',
          r.takeovers),
        'details', jsonb_build_object('takeovers', r.takeovers)) else j.error end
    from ranked r where j.tenant_id = r.tenant_id and j.id = r.id
    returning 1
  )
  select count(*) into taken from changed;
  return taken;
end
$$;

-- Takes jobs back from workers whose lease ran out or, on a server, whose connection is gone: each
-- living worker holds an advisory lock on its id for as long as it is connected. Not by bitmaps: a busy
-- queue leaves many dead entries in jobs_running, which a plain index scan marks for those after it.
create or replace function requeue_abandoned(by_worker uuid, look_for_locks boolean, most int)
  returns bigint language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  gone uuid[];
  tokens uuid[];
begin
  if look_for_locks then
    select array_agg(w.worker_id) into gone from (
      select distinct j.worker_id from jobs j
      where j.status = 'processing' and j.worker_id <> by_worker) as w
    where pg_try_advisory_xact_lock(hashtextextended(w.worker_id::text, 0));
  end if;
  tokens := array(select j.lease_token from jobs j where j.status = 'processing'
    and (j.lease_until < app_now() or j.worker_id = any (gone)));
  return case when tokens = '{}' then 0 else take_over(tokens, most) end;
end
$$;
