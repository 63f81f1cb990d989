-- The ways into the ledger: who may use them, for which tenant, with which amounts, and as whom they run.
--
-- Each is SECURITY DEFINER, so that what it calls runs with its owner's rights, while a tenant may not
-- call an inner function. Their search path is fixed: no caller can put a table or an operator before
-- those that they mean. Where a superuser owns the tables, whom no policy ties to a tenant, their owner
-- is dialectic_ledger.

-- First in each function that runs with its owner's rights: refuses all but a transaction of the tenant
-- itself. Inside of such a function current_user is its owner; the setting names the role that the
-- transaction took.
create or replace function require_tenant(of_tenant uuid) returns void
  language plpgsql stable as $$
begin
  if current_setting('role') <> 'dialectic_app' or of_tenant is distinct from current_tenant() then
    raise exception 'Only a transaction of the tenant itself may do this.'
      using errcode = 'DX000', hint = 'access_denied';
  end if;
end
$$;

-- A billion dollars or 10^15 tokens at most, as src/wallet/amounts.ts says; the sum of a few still fits.
-- Callers say `variadic array[...]`: it means this function alone, while PostgreSQL would prefer another
-- check_amounts(text, bigint), whoever made it.
create or replace function check_amounts(what text, variadic amounts bigint[]) returns void
  language plpgsql immutable as $$
begin
  if 1000000000000000 < any (amounts) then
    raise exception '% is more than 1000000000000000.', what
      using errcode = 'DX000', hint = 'amount_too_large';
  elsif 0 > any (amounts) then
    raise exception '% is less than nothing, which is no amount.', what
      using errcode = 'DX000', hint = 'internal_error';
  end if;
end
$$;

do $$
declare
  entrance text;
begin
  if ledger_owner() = 'dialectic_ledger' then
    foreach entrance in array array['hold_funds', 'hold_unlimited', 'post_calls', 'close_hold',
      'settle_left_holds', 'grant_funds', 'refund_call', 'set_budget', 'remove_limit',
      'set_spending_share', 'lock_wallets', 'lock_hold', 'erase_project'] loop
      execute format('alter function %s owner to dialectic_ledger',
        entrance::regproc::regprocedure);
    end loop;
  end if;
end
$$;
