-- Budgets: hard caps on what a session, a project or a tenant spends.

-- The budgets that a session's calls count in.
create or replace function budgets_of(of_tenant uuid, of_session uuid)
  returns setof budgets language sql stable rows 1 as $$
  select b.* from budgets b
  where b.tenant_id = of_tenant and (b.scope, b.owner_id) in (
    ('tenant', of_tenant), ('session', of_session),
    ('project', (select s.project_id from sessions s
      where s.tenant_id = of_tenant and s.id = of_session)))
$$;

create or replace function add_to_budgets(
  of_tenant uuid, of_session uuid,
  held_usd bigint, held_tokens bigint, spent_usd bigint, spent_tokens bigint
) returns void language plpgsql as $$
begin
  if exists (select from budgets b where b.tenant_id = of_tenant) then
    update budgets b set
      held = b.held + case b.currency when 'USD' then held_usd else held_tokens end,
      spent = b.spent + case b.currency when 'USD' then spent_usd else spent_tokens end
    from budgets_of(of_tenant, of_session) as mine
    where b.tenant_id = mine.tenant_id and b.scope = mine.scope and b.owner_id = mine.owner_id
      and b.currency = mine.currency;
  end if;
end
$$;

-- Locks the budgets of a session; false if its tenant has none at all, which is the usual case.
create or replace function lock_budgets(of_tenant uuid, of_session uuid) returns boolean
  language plpgsql as $$
begin
  if not exists (select from budgets b where b.tenant_id = of_tenant) then
    return false;
  end if;
  perform 1 from budgets b
  where (b.tenant_id, b.scope, b.owner_id, b.currency) in (
    select m.tenant_id, m.scope, m.owner_id, m.currency from budgets_of(of_tenant, of_session) m)
  order by b.scope, b.owner_id, b.currency for update;
  return true;
end
$$;

create or replace function is_within(of_tenant uuid, of_session uuid, of_scope text, of_owner uuid)
  returns boolean language sql stable as $$
  select case of_scope
    when 'tenant' then true
    when 'session' then of_session is not distinct from of_owner
    else exists (select from sessions s where s.tenant_id = of_tenant and s.id = of_session
      and s.project_id = of_owner)
  end
$$;

-- Sets a cap, or takes it away (null). What was spent and is held counts from the beginning: the
-- payers' locks keep every other movement of the tenant out until it is in force.
create or replace function set_budget(
  of_tenant uuid, of_scope text, of_owner uuid, of_currency text, of_amount bigint
) returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  perform require_tenant(of_tenant);
  perform check_amounts('The budget', variadic array[of_amount]);
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  perform lock_wallets(of_tenant);
  if of_amount is null then
    delete from budgets b where b.tenant_id = of_tenant and b.scope = of_scope
      and b.owner_id = of_owner and b.currency = of_currency;
    return;
  end if;
  insert into budgets (tenant_id, scope, owner_id, currency, amount, spent, held)
  select of_tenant, of_scope, of_owner, of_currency, of_amount,
    (select coalesce(sum(e.amount), 0) from postings p
     join entries e on e.tenant_id = of_tenant and e.posting_id = p.id and e.currency = of_currency
     join accounts a on a.tenant_id = of_tenant and a.id = e.account_id and a.kind = 'provider'
     where p.tenant_id = of_tenant and is_within(of_tenant, p.session_id, of_scope, of_owner)),
    (select coalesce(sum(case of_currency when 'USD' then h.usd else h.tokens end), 0) from holds h
     where h.tenant_id = of_tenant and h.status = 'held'
       and is_within(of_tenant, h.session_id, of_scope, of_owner))
  on conflict (tenant_id, scope, owner_id, currency) do update set amount = excluded.amount;
end
$$;
