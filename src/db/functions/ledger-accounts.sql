-- Accounts: opening, locking and limits.
--
-- Lock order of the ledger: the accounts that pay (dollars, then tokens), then budgets, then the other
-- accounts. So two movements never deadlock, and what was decided under the lock holds at the commit.

create or replace function open_account(
  of_tenant uuid, of_kind text, of_owner text, of_currency text, without_limit boolean
) returns uuid language plpgsql as $$
declare
  found_id uuid;
begin
  loop
    select a.id into found_id from accounts a where a.tenant_id = of_tenant and a.kind = of_kind
      and a.owner = of_owner and a.currency = of_currency;
    if found then
      return found_id;
    end if;
    insert into accounts (tenant_id, kind, owner, currency, unlimited)
    values (of_tenant, of_kind, of_owner, of_currency, without_limit) on conflict do nothing;
  end loop;
end
$$;

-- Who pays for a project's calls, in dollars and in tokens: its own wallet where it has one, else the
-- user's, which has no limit until something is granted to it. The rows are locked until the
-- transaction ends; the second is looked for beside the first, which orders the locks.
create or replace function lock_payers(
  of_tenant uuid, of_project uuid, out usd accounts, out tok accounts
) language plpgsql as $$
declare
  payers record;
begin
  loop
    select u.payer as usd, t.payer as tok into payers
    from (
      select a as payer from accounts a
      where a.tenant_id = of_tenant and a.currency = 'USD' and ((a.kind = 'user' and a.owner = '')
        or (a.kind = 'project' and a.owner = of_project::text))
      order by a.kind = 'user' limit 1 for update) as u
    cross join lateral (
      select a as payer from accounts a
      where a.tenant_id = (u.payer).tenant_id and a.currency = 'token'
        and ((a.kind = 'user' and a.owner = '')
          or (a.kind = 'project' and a.owner = of_project::text))
      order by a.kind = 'user' limit 1 for update) as t;
    if found then
      usd := payers.usd;
      tok := payers.tok;
      return;
    end if;
    perform open_account(of_tenant, 'user', '', 'USD', true);
    perform open_account(of_tenant, 'user', '', 'token', true);
  end loop;
end
$$;

-- Keeps every other movement of a tenant out until the transaction ends.
create or replace function lock_wallets(of_tenant uuid) returns void language sql
  security definer set search_path = public, pg_temp as $$
  select require_tenant(of_tenant);
  select 1 from accounts a where a.tenant_id = of_tenant and a.kind in ('user', 'project')
  order by a.currency = 'token', a.kind, a.owner for update
$$;

-- Takes the limit off a wallet, for those who pay providers with keys of their own.
create or replace function remove_limit(of_tenant uuid, of_kind text, of_owner text, of_currency text)
  returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  perform require_tenant(of_tenant);
  perform open_account(of_tenant, of_kind, of_owner, of_currency, true);
  update accounts a set unlimited = true where a.tenant_id = of_tenant and a.kind = of_kind
    and a.owner = of_owner and a.currency = of_currency;
end
$$;

-- Sets the part of a limited wallet that may be spent without asking.
create or replace function set_spending_share(of_tenant uuid, share double precision)
  returns void language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  perform require_tenant(of_tenant);
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  update accounts a set spending_share = share
  where a.tenant_id = of_tenant and a.kind in ('user', 'project');
end
$$;
