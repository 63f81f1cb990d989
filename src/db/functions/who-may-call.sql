-- Who may call which function. PostgreSQL lets PUBLIC call every new function, and whoever can log in to a
-- server is PUBLIC; so all are closed, and opened here to the roles that need them. Functions of triggers
-- need no right; what they call needs that of the role whose statement fired them. The application's role
-- may call the ways into the ledger, whose inner functions are for their owner alone (ledger-rights.sql).
do $$
declare
  ours text;
  one record;
begin
  select string_agg(p.oid::regprocedure::text, ', ') into ours from pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and pg_get_userbyid(p.proowner) in (current_user, ledger_owner())
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e');
  execute format('revoke all on routine %s from public, dialectic_app, dialectic_worker, '
    'dialectic_auth', ours);
  if ledger_owner() = 'dialectic_ledger' then
    -- Not those that it owns: it would lose its own right.
    select string_agg(p.oid::regprocedure::text, ', ') into ours from pg_proc p
    cross join aclexplode(p.proacl) g
    where p.pronamespace = 'public'::regnamespace and g.grantee = 'dialectic_ledger'::regrole
      and p.proowner <> g.grantee;
    if ours is not null then
      execute format('revoke all on routine %s from dialectic_ledger', ours);
    end if;
  end if;

  for one in
    select r.role, string_agg(('public.' || f.name)::regproc::oid::regprocedure::text, ', ') as functions
    from (values
      -- The tenant of a transaction and the clock, in policies and defaults.
      ('app worker ledger', 'current_tenant'),
      ('app worker auth ledger', 'app_now'),

      -- Jobs: claims and leases of workers, and what a tenant's transaction does with jobs.
      ('worker', 'claim_jobs complete_jobs extend_leases requeue_abandoned take_over'),
      ('app', 'insert_jobs hold_leases require_leases refuse_lease complete_held_jobs
        suspend_held_jobs cancel_jobs claim_next'),
      ('app worker', 'claim_limited find_due find_due_by_key'),
      -- What the triggers of jobs call.
      ('app worker', 'may_follow refuse_transition is_open waits_for_itself job_event_kind
        job_event_entry settle_lanes settle_stages children_by_step fail_parents wake_parents
        wake_with_losses wake_waiters cancel_children'),
      ('app worker ledger', 'is_over short_error describe_jobs tell_session'),

      -- Texts, requests, memory and events.
      ('app', 'keep_texts request_parts begin_with_last note_requests match_chunks match_words
        match_vectors event_horizon'),
      ('app ledger', 'was_sent'),

      -- The ways into the ledger.
      ('app', 'require_funds hold_funds hold_unlimited post_calls close_hold lock_hold
        settle_left_holds lock_wallets grant_funds refund_call set_budget remove_limit
        set_spending_share erase_project'),
      ('app ledger', 'post_call'),
      -- What they call.
      ('ledger', 'require_tenant check_amounts open_account lock_payers lock_payers_of budgets_of
        add_to_budgets lock_budgets is_within is_any_moving weigh_call release_holds charge book
        posting_content posted_before replayed_posting move_funds lock_for_erasing texts_of
        delete_unused_texts delete_unused_bytes delete_unused_recipes')
    ) as m (roles, names)
    cross join regexp_split_to_table(m.names, '\s+') as f (name)
    cross join regexp_split_to_table(m.roles, ' ') as a (kind)
    join (values ('app', 'dialectic_app'), ('worker', 'dialectic_worker'),
      ('auth', 'dialectic_auth'), ('ledger', ledger_owner())) as r (kind, role)
      on r.kind = a.kind
    -- Where the ledger's functions are of the store's owner, all of these are.
    where r.role <> current_user
    group by r.role order by r.role
  loop
    execute format('grant execute on routine %s to %I', one.functions, one.role);
  end loop;
end
$$;

-- The same for what somebody adds by hand. Not for a superuser, whose extensions would be closed, too.
do $$
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    alter default privileges revoke execute on routines from public;
  end if;
end
$$;
