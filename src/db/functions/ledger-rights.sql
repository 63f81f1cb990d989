-- Who the functions of the ledger run as, and the one that erases a project.
--
-- These are the ways into the ledger: each is SECURITY DEFINER, so that what it calls runs with its
-- owner's rights, while a tenant who calls an inner function has only the right to read. Their search
-- path is fixed: no caller can put a table or an operator before those that they mean. Where a
-- superuser owns the tables, whom no policy ties to a tenant, their owner is dialectic_ledger.
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
