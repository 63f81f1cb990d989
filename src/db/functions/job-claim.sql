-- Claiming: how workers get jobs.
--
-- enable_seqscan is off wherever a function reads jobs on a hot path: PL/pgSQL keeps the plan that it
-- made while the table was small, and PGlite has no autovacuum whose ANALYZE would invalidate it; once
-- the table has grown, a sequential scan would read all of it. enable_sort is off where due jobs are
-- looked for: jobs_due has them in order, while jobs_of_session, which looks as good to that plan once
-- its rows are sorted, holds all finished jobs of the session as well. plan_cache_mode keeps PostgreSQL
-- from planning again for each array of another length, which took half the time of ending one job.

-- Due jobs of sessions whose gates are open, in equal shares, so that a large run does not starve a
-- small one; what the small ones leave goes to the others in the second pass. Sessions are drawn by
-- lot where there are more than the batch has room for; a few more than that, since limits by key may
-- leave some without anything. Two tenants may have a session of the same id: what is claimed is
-- matched by tenant and id.
create or replace function claim_jobs(
  for_worker uuid, batch int, lease interval, only_tenant uuid, only_session uuid
) returns setof jobs language plpgsql
  set enable_seqscan = off set enable_sort = off
  set plan_cache_mode = force_generic_plan as $$
declare
  remaining int := batch;
  share int;
  got int;
  sessions int;
  free uuid[];
  free_tenants uuid[];
  limited uuid[];
  limited_tenants uuid[];
  limited_first boolean;
  found_places tid[];
  places tid[] := '{}';
begin
  select coalesce(array_agg(d.id) filter (where not d.is_limited), '{}'),
    coalesce(array_agg(d.tenant_id) filter (where not d.is_limited), '{}'),
    coalesce(array_agg(d.id) filter (where d.is_limited), '{}'),
    coalesce(array_agg(d.tenant_id) filter (where d.is_limited), '{}')
  into free, free_tenants, limited, limited_tenants
  from (
    select x.tenant_id, x.id, x.max_running is not null or exists (
      select from concurrency_limits l where l.tenant_id = x.tenant_id) as is_limited
    from sessions x
    cross join lateral (
      select from jobs j where j.session_id = x.id and j.tenant_id = x.tenant_id
        and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
      order by j.run_after, j.seq limit 1) as due
    where x.status = 'running' and x.gates = '{}'
      and (only_session is null or (x.tenant_id = only_tenant and x.id = only_session))
      and (x.max_running is null or x.max_running > (select count(*) from jobs j
        where j.session_id = x.id and j.tenant_id = x.tenant_id and j.status = 'processing'))
    order by random() limit greatest(batch, 50)
  ) as d;

  sessions := cardinality(free) + cardinality(limited);
  share := (batch + sessions - 1) / greatest(1, sessions);
  -- Shares are rounded up, so the last session may find nothing left: the order is drawn by lot, too.
  limited_first := random() < 0.5;
  for turn in 1..4 loop
    exit when remaining <= 0 or sessions = 0;
    if limited_first = (turn % 2 = 1) then
      for at in 1..cardinality(limited) loop
        exit when remaining <= 0;
        return query select * from claim_limited(
          for_worker, limited_tenants[at], limited[at], least(share, remaining), lease);
        get diagnostics got = row_count;
        remaining := remaining - got;
      end loop;
    elsif cardinality(free) > 0 then
      found_places := find_due(free_tenants, free, share, remaining, places);
      places := places || found_places;
      remaining := remaining - cardinality(found_places);
      -- Where all of them together gave less than one share, none has more to give.
      if cardinality(found_places) < share and cardinality(limited) = 0 then
        exit;
      end if;
    end if;
    exit when turn = 2 and sessions = 1;
    if turn = 2 then
      share := remaining;
    end if;
  end loop;
  -- One update for both passes, and none for nothing: every update of jobs fires their triggers.
  if cardinality(places) > 0 then
    return query
      update jobs j set status = 'processing', worker_id = for_worker,
        lease_token = gen_random_uuid(), lease_until = app_now() + lease,
        started_at = coalesce(j.started_at, app_now())
      where j.ctid = any (places)
      returning j.*;
  end if;
end
$$;

-- Claims jobs of sessions in the transaction that ends others and sets these free, for the workers that
-- end them. The lock that makes limits strict is awaited: what this transaction sets free no other one
-- sees yet, so that it would be left behind. Nothing is locked after it, as in every other claim.
--
-- A slot under a limit that is taken again at once never comes free for other sessions. Where one of
-- these has due jobs with the same key nothing is claimed, and a row without an id says so.
create or replace function claim_next(
  workers uuid[], rooms int[], of_sessions uuid[], leases interval[]
) returns setof jobs language plpgsql
  set enable_seqscan = off set enable_sort = off
  set plan_cache_mode = force_generic_plan as $$
declare
  asked record;
begin
  if exists (select from concurrency_limits l where l.tenant_id = current_tenant()) then
    if exists (
      select from concurrency_limits l
      cross join lateral (
        select from jobs o where o.session_id = any (of_sessions) and o.tenant_id = l.tenant_id
          and o.concurrency_key = l.key and o.run_after <= app_now()
          and o.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        limit 1) as own
      join sessions x on x.tenant_id = l.tenant_id and x.status = 'running' and x.gates = '{}'
        and x.id <> all (of_sessions)
        and (x.max_running is null or x.max_running > (select count(*) from jobs r
          where r.session_id = x.id and r.tenant_id = x.tenant_id and r.status = 'processing'))
      cross join lateral (
        select from jobs j where j.session_id = x.id and j.tenant_id = x.tenant_id
          and j.concurrency_key = l.key and j.run_after <= app_now()
          and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        limit 1) as due
      where l.tenant_id = current_tenant())
    then
      return next null::jobs;
      return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(current_tenant()::text, 1));
  end if;
  for asked in
    select w.worker, w.session, w.lease, sum(w.room)::int as room
    from unnest(workers, rooms, of_sessions, leases) as w (worker, room, session, lease)
    group by w.worker, w.session, w.lease
  loop
    return query select * from claim_limited(
      asked.worker, current_tenant(), asked.session, asked.room, asked.lease);
  end loop;
end
$$;

-- The places (ctid) of the oldest due jobs of some sessions, but for those in `taken`. The rows are
-- locked, so their places stay, and an update by place needs no join, which would be planned for as many
-- rows as the table has.
create or replace function find_due(
  of_tenants uuid[], of_sessions uuid[], share int, room int, taken tid[]
) returns tid[] language plpgsql as $$
begin
  return array(
    select d.place from unnest(of_tenants, of_sessions) as s (tenant_id, id)
    cross join lateral (
      select c.ctid as place from jobs c
      where c.session_id = s.id and c.tenant_id = s.tenant_id and c.run_after <= app_now()
        and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        and c.ctid <> all (taken)
      order by c.run_after, c.seq limit share for update skip locked) as d
    limit room);
end
$$;

-- The same for a session with a limit or a tenant with limits by key: never more running jobs than
-- they allow. One worker claims them at a time, which is what makes the limits strict.
create or replace function claim_limited(
  for_worker uuid, of_tenant uuid, of_session uuid, room int, lease interval
) returns setof jobs language plpgsql as $$
declare
  allowed int;
  places tid[];
begin
  select x.max_running into allowed from sessions x where x.tenant_id = of_tenant
    and x.id = of_session and x.status = 'running' and x.gates = '{}';
  if not found then
    return;
  end if;
  if allowed is not null then
    perform 1 from sessions x where x.tenant_id = of_tenant and x.id = of_session
      for no key update skip locked;
    if not found then
      return;
    end if;
    room := least(room, allowed - (select count(*) from jobs j where j.tenant_id = of_tenant
      and j.session_id = of_session and j.status = 'processing'));
  end if;
  if room <= 0 then
    return;
  end if;
  if not exists (select from concurrency_limits l where l.tenant_id = of_tenant) then
    places := find_due(array[of_tenant], array[of_session], room, room, '{}');
  elsif pg_try_advisory_xact_lock(hashtextextended(of_tenant::text, 1)) then
    places := find_due_by_key(of_tenant, of_session, room);
  end if;
  if cardinality(places) > 0 then
    return query
      update jobs j set status = 'processing', worker_id = for_worker,
        lease_token = gen_random_uuid(), lease_until = app_now() + lease,
        started_at = coalesce(j.started_at, app_now())
      where j.ctid = any (places)
      returning j.*;
  end if;
end
$$;

-- As find_due(), for one session within the limits by key of its tenant, whose lock the caller holds.
create or replace function find_due_by_key(of_tenant uuid, of_session uuid, room int)
  returns tid[] language plpgsql as $$
begin
  return array(
    with free as materialized (
      select l.key, l.max_running - (select count(*) from jobs r where r.status = 'processing'
        and r.concurrency_key = l.key and r.tenant_id = of_tenant) as places
      from concurrency_limits l where l.tenant_id = of_tenant
    ), candidates as (
      select j.id, j.run_after, j.seq, f.places,
        row_number() over (partition by j.concurrency_key order by j.run_after, j.seq) as nth
      from jobs j left join free f on f.key = j.concurrency_key
      where j.session_id = of_session and j.tenant_id = of_tenant and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
    )
    select j.ctid from jobs j
    where j.tenant_id = of_tenant
      and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
      and j.id in (select c.id from candidates c where c.places is null or c.nth <= c.places
        order by c.run_after, c.seq limit room)
    for update skip locked);
end
$$;
