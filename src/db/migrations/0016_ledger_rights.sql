-- Tenants read the ledger; its functions alone write it.
--
-- The functions that move money run with the rights of their owner (functions/ledger-rights.sql).
-- Policies tie that owner to the tenant of the transaction, so that a function called with another
-- tenant's id finds nothing. A superuser is tied by no policy: where one owns the tables, the functions
-- get an owner of their own, dialectic_ledger, which no statement of the program takes.

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

-- An event is written by the transaction it belongs to, at the time it is: neither can be chosen, or
-- readers would pass it by.
revoke insert on events from dialectic_app, dialectic_worker;
grant insert (tenant_id, topic, kind, payload) on events to dialectic_app, dialectic_worker;

-- Replaced by functions with other arguments (functions/job-claim.sql).
drop function if exists claim_jobs(uuid, int, interval, uuid);
drop function if exists claim_due(uuid, uuid[], int, int, interval);
drop function if exists claim_limited(uuid, uuid, int, interval);
