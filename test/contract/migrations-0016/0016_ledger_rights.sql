-- Tenants read the ledger; its functions alone write it.
--
-- The functions that move money run with the rights of their owner. Policies tie that owner to the
-- tenant of the transaction, so that a function called with another tenant's id finds nothing. A
-- superuser is tied by no policy: where one owns the tables, the functions get an owner of their own,
-- dialectic_ledger, which no statement of the program takes. Their search path is fixed: nobody can
-- put a table or an operator of his own before those that they mean.

create function ledger_owner() returns text language sql stable return
  case when (select rolsuper from pg_roles where rolname = current_user)
    then 'dialectic_ledger' else current_user end;

do $$
begin
  if ledger_owner() = 'dialectic_ledger'
    and not exists (select from pg_roles where rolname = 'dialectic_ledger')
  then
    create role dialectic_ledger nologin noinherit;
  end if;
exception when duplicate_object or unique_violation then
  null; -- another database of the cluster made it at the same time
end
$$;

-- Opens a table to the ledger's functions, for the rows of their tenant.
create procedure open_to_ledger(table_name text, privileges text) language plpgsql as $$
begin
  execute format(
    'create policy ledger_of_tenant on %I for all to %I '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name, ledger_owner()
  );
  if ledger_owner() = 'dialectic_ledger' then
    execute format('grant %s on %I to dialectic_ledger', privileges, table_name);
  end if;
end
$$;
call open_to_ledger('accounts', 'select, insert, update');
call open_to_ledger('postings', 'select, insert');
call open_to_ledger('entries', 'select, insert');
call open_to_ledger('holds', 'select, insert, update');
call open_to_ledger('budgets', 'select, insert, update, delete');
-- What settle_left_holds() ends in the place of a dead process, and what it tells of it.
call open_to_ledger('sessions', 'select');
call open_to_ledger('stage_runs', 'select');
call open_to_ledger('lanes', 'select');
call open_to_ledger('jobs', 'select');
call open_to_ledger('model_calls', 'select, update');
call open_to_ledger('call_pieces', 'select, delete');
call open_to_ledger('events', 'insert');

revoke insert, update, delete on accounts, postings, entries, holds, budgets from dialectic_app;

-- Takes the limit off a wallet, for those who pay providers with keys of their own.
create function remove_limit(of_tenant uuid, of_kind text, of_owner text, of_currency text)
  returns void language plpgsql as $$
begin
  perform open_account(of_tenant, of_kind, of_owner, of_currency, true);
  update accounts a set unlimited = true where a.tenant_id = of_tenant and a.kind = of_kind
    and a.owner = of_owner and a.currency = of_currency;
end
$$;

-- Sets the part of a limited wallet that may be spent without asking.
create function set_spending_share(of_tenant uuid, share double precision)
  returns void language plpgsql as $$
begin
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  update accounts a set spending_share = share
  where a.tenant_id = of_tenant and a.kind in ('user', 'project');
end
$$;

-- The ways into the ledger. What they call runs with their rights; called by a tenant directly, it
-- has the tenant's, who may only read.
do $$
declare
  entrance text;
begin
  foreach entrance in array array['hold_funds', 'post_call', 'close_hold', 'settle_left_holds',
    'grant_funds', 'refund_call', 'set_budget', 'remove_limit', 'set_spending_share',
    'lock_wallets', 'lock_hold'] loop
    execute format('alter function %s security definer', entrance::regproc::regprocedure);
    execute format('alter function %s set search_path = public, pg_temp',
      entrance::regproc::regprocedure);
    if ledger_owner() = 'dialectic_ledger' then
      execute format('alter function %s owner to dialectic_ledger',
        entrance::regproc::regprocedure);
    end if;
  end loop;
end
$$;

-- An event is written by the transaction it belongs to, at the time it is: neither can be chosen, or
-- readers would pass it by.
revoke insert on events from dialectic_app, dialectic_worker;
grant insert (tenant_id, topic, kind, payload) on events to dialectic_app, dialectic_worker;

-- Every role can listen, so a hint says only that there is something to look for.
create or replace function notify_events() returns trigger language plpgsql as $$
begin
  if current_setting('dialectic.quiet', true) is distinct from 'on' then
    perform pg_notify('dialectic_events', '');
  end if;
  return null;
end
$$;

-- Two tenants may have a session of the same id: what is claimed is matched by tenant and id.
drop function claim_jobs(uuid, int, interval, uuid);
drop function claim_due(uuid, uuid[], int, int, interval);
drop function claim_limited(uuid, uuid, int, interval);

create function claim_jobs(
  for_worker uuid, batch int, lease interval, only_tenant uuid, only_session uuid
) returns setof jobs language plpgsql as $$
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
    where x.status = 'running' and x.gates = '{}'
      and (only_session is null or (x.tenant_id = only_tenant and x.id = only_session))
      and exists (select from jobs j where j.session_id = x.id and j.tenant_id = x.tenant_id
        and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation'))
      and (x.max_running is null or x.max_running > (select count(*) from jobs j
        where j.session_id = x.id and j.tenant_id = x.tenant_id and j.status = 'processing'))
    order by random() limit greatest(batch, 50)
  ) as d;

  sessions := cardinality(free) + cardinality(limited);
  share := (batch + sessions - 1) / greatest(1, sessions);
  -- Shares are rounded up, so whoever comes last may find nothing left: that is drawn by lot, too.
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
      return query select * from claim_due(
        for_worker, free_tenants, free, share, remaining, lease);
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
  for_worker uuid, of_tenants uuid[], of_sessions uuid[], share int, room int, lease interval
) returns setof jobs language plpgsql as $$
begin
  return query
    update jobs j set status = 'processing', worker_id = for_worker,
      lease_token = gen_random_uuid(), lease_until = app_now() + lease,
      started_at = coalesce(j.started_at, app_now())
    where j.ctid = any (array(
      select d.place from unnest(of_tenants, of_sessions) as s (tenant_id, id)
      cross join lateral (
        select c.ctid as place from jobs c
        where c.session_id = s.id and c.tenant_id = s.tenant_id and c.run_after <= app_now()
          and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        order by c.run_after, c.seq limit share for update skip locked) as d
      limit room))
    returning j.*;
end
$$;

-- The same for a session with a limit or a tenant with limits by key: never more running jobs than
-- they allow. One worker claims them at a time, which is what makes the limits strict.
create function claim_limited(
  for_worker uuid, of_tenant uuid, of_session uuid, room int, lease interval
) returns setof jobs language plpgsql as $$
declare
  allowed int;
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
    return query select * from claim_due(
      for_worker, array[of_tenant], array[of_session], room, room, lease);
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
      where j.session_id = of_session and j.tenant_id = of_tenant and j.run_after <= app_now()
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

alter function claim_jobs(uuid, int, interval, uuid, uuid) set enable_seqscan = off;
