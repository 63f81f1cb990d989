-- Who may call which function. PostgreSQL lets PUBLIC call every new function, and whoever can log in to a
-- server is PUBLIC; so all are closed, and opened here to the roles that need them. Functions of triggers
-- need no right; what they call needs that of the role whose statement fired them. The application's role
-- may call the ways into the ledger, whose inner functions are for their owner alone (ledger-rights.sql).
-- Only functions that stand here are touched: others of the same owner are of another application that
-- shares the database. test/security/catalog.test.ts finds one of ours that is missing.
do $$
declare
  may_call constant text[] := array[
      -- The tenant of a transaction and the clock, in policies and defaults.
      ['app worker ledger', 'current_tenant'],
      ['app worker auth ledger', 'app_now'],

      -- Jobs: claims and leases of workers, and what a tenant's transaction does with jobs.
      ['worker', 'claim_jobs complete_jobs extend_leases requeue_abandoned take_over'],
      ['app', 'insert_jobs hold_leases require_leases refuse_lease complete_held_jobs
        suspend_held_jobs cancel_jobs claim_next'],
      ['app worker', 'claim_limited find_due find_due_by_key'],
      -- What the triggers of jobs call.
      ['app worker', 'may_follow refuse_transition is_open waits_for_itself job_event_kind
        job_event_entry settle_lanes settle_stages children_by_step fail_parents wake_parents
        wake_with_losses wake_waiters cancel_children'],
      ['app worker ledger', 'is_over short_error describe_jobs tell_session'],

      -- Texts, requests, memory and events.
      ['app', 'keep_texts request_parts begin_with_last note_requests match_chunks match_words
        match_vectors event_horizon'],
      ['app ledger', 'was_sent'],

      -- The ways into the ledger.
      ['app', 'require_funds hold_funds hold_unlimited post_calls close_hold lock_hold
        settle_left_holds lock_wallets grant_funds refund_call set_budget remove_limit
        set_spending_share erase_project'],
      ['app ledger', 'post_call'],
      -- What they call.
      ['ledger', 'require_tenant check_amounts open_account lock_payers lock_payers_of budgets_of
        add_to_budgets lock_budgets is_within is_any_moving weigh_call release_holds charge book
        posting_content posted_before replayed_posting move_funds lock_for_erasing texts_of
        delete_unused_texts delete_unused_bytes delete_unused_recipes'],

      -- Of triggers, and for migrations.
      ['', 'tell_new_jobs tell_job_changes handle_job_completion refuse_cancelled refuse_ledger_change
        follow_entries refuse_deletion_of_busy_sessions handle_job_insertion tell_contributions
        tell_call_ends tell_text tell_documents tell_session_change tell_stage tell_step refuse_change
        notify_events add_failure_notice add_pause_notice fail_session
        ledger_owner isolate_table open_table open_to_ledger']
  ];
  one record;
begin
  for one in
    select r.role, string_agg(('public.' || f.name)::regproc::oid::regprocedure::text, ', ') as functions
    from generate_subscripts(may_call, 1) as at
    cross join regexp_split_to_table(may_call[at][2], '\s+') as f (name)
    cross join (values ('public'), ('dialectic_app'), ('dialectic_worker'), ('dialectic_auth'),
      (ledger_owner())) as r (role)
    -- An owner keeps its own right.
    where r.role <> (select pg_get_userbyid(p.proowner) from pg_proc p
      where p.oid = ('public.' || f.name)::regproc)
    group by r.role order by r.role
  loop
    execute format('revoke all on routine %s from %s', one.functions,
      case one.role when 'public' then 'public' else quote_ident(one.role) end);
  end loop;

  for one in
    select r.role, string_agg(('public.' || f.name)::regproc::oid::regprocedure::text, ', ') as functions
    from generate_subscripts(may_call, 1) as at
    cross join regexp_split_to_table(may_call[at][2], '\s+') as f (name)
    cross join regexp_split_to_table(may_call[at][1], ' ') as a (kind)
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
