-- A job that keeps ending the workers which run it fails, the last commit of a job can be recognised,
-- and limits by key are counted by an index.

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

drop function requeue_abandoned(uuid, boolean);

-- Puts jobs of dead workers back. Takeovers are not attempts, and a commit that lets the job go on
-- starts their count anew; but a job that was taken over `most` times without one fails: it may be
-- what ends its workers. From the sixth takeover on a job rests, and those of one worker rest for
-- different times, so that a job which ends its worker does not take the same others with it again.
-- Lock order: stage runs, then jobs.
create function take_over(tokens uuid[], most int) returns bigint language plpgsql as $$
declare
  taken bigint;
begin
  perform 1 from stage_runs r where (r.tenant_id, r.id) in (
      select j.tenant_id, j.stage_run_id from jobs j
      where j.status = 'processing' and j.lease_token = any (tokens) and j.takeovers >= most)
    order by r.id for no key update;

  with locked as (
    select j.tenant_id, j.id, j.seq, j.takeovers from jobs j
    where j.status = 'processing' and j.lease_token = any (tokens)
    order by j.seq for update skip locked
  ), ranked as (
    select l.tenant_id, l.id, l.takeovers >= most as fails,
      case when l.takeovers < 5 then 0 else least(60, (l.takeovers - 4)
        * count(*) filter (where l.takeovers >= 5) over (order by l.seq)) end as rest_s
    from locked l
  ), changed as (
    update jobs j set status = case when r.fails then 'failed' else 'pending' end,
      takeovers = j.takeovers + 1, worker_id = null, lease_token = null, lease_until = null,
      run_after = app_now() + r.rest_s * interval '1 second',
      finished_at = case when r.fails then app_now() end,
      error = case when r.fails then jsonb_build_object('code', 'takeovers_exhausted',
        'message', format('%s workers in a row died or lost their lease while they ran this job.',
          j.takeovers + 1),
        'details', jsonb_build_object('takeovers', j.takeovers + 1)) else j.error end
    from ranked r where j.tenant_id = r.tenant_id and j.id = r.id
    returning 1
  )
  select count(*) into taken from changed;
  return taken;
end
$$;

-- Takes jobs back from workers whose lease ran out or, on a server, whose connection is gone: each
-- living worker holds an advisory lock on its id for as long as it is connected.
create function requeue_abandoned(by_worker uuid, look_for_locks boolean, most int)
  returns bigint language plpgsql as $$
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

-- As in migration 0003, with the running jobs of each key counted once and by their index.
create or replace function claim_limited(for_worker uuid, of_session uuid, room int, lease interval)
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
    with free as materialized (
      select l.key, l.max_running - (select count(*) from jobs r where r.status = 'processing'
        and r.concurrency_key = l.key and r.tenant_id = of_tenant) as places
      from concurrency_limits l where l.tenant_id = of_tenant
    ), candidates as (
      select j.id, j.run_after, j.seq, f.places,
        row_number() over (partition by j.concurrency_key order by j.run_after, j.seq) as nth
      from jobs j left join free f on f.key = j.concurrency_key
      where j.session_id = of_session and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
    ), due as (
      select j.id from jobs j
      where j.tenant_id = of_tenant
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        and j.id in (select c.id from candidates c where c.places is null or c.nth <= c.places
          order by c.run_after, c.seq limit room)
      for update skip locked)
    update jobs j set status = 'processing', worker_id = for_worker,
      lease_token = gen_random_uuid(), lease_until = app_now() + lease,
      started_at = coalesce(j.started_at, app_now())
    from due where j.tenant_id = of_tenant and j.id = due.id
    returning j.*;
end
$$;

alter function take_over(uuid[], int) set enable_seqscan = off;
alter function requeue_abandoned(uuid, boolean, int) set enable_seqscan = off;
