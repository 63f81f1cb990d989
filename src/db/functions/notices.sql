-- Notices for what concerns the user: jobs that failed for good and sessions paused for money. Triggers
-- write them, so that a failure that SQL decides on (too many takeovers, say) is told as well, and so
-- that several calls which run into one budget give one notice.

create or replace function add_failure_notice() returns trigger language plpgsql as $$
declare
  about jsonb := (select j.about from describe_jobs(new.tenant_id, new.id) as j (about));
  lane text := format('participant %s (%s)', about->>'lane', about->>'model');
begin
  insert into notices (tenant_id, id, severity, code, message, topic, details)
  values (new.tenant_id, gen_random_uuid(), 'error', coalesce(new.error->>'code', 'internal_error'),
    case
      when about->>'stage' is null then format('A %s job%s', new.job_type, ' of step ' || new.step_key)
      when about->>'lane' is null then format('Stage %s', about->>'stage')
      when new.step_key is null then format('Stage %s of %s', about->>'stage', lane)
      else format('Step %s of stage %s of %s', new.step_key, about->>'stage', lane)
    end || ' failed: ' || coalesce(new.error->>'message', 'no reason was recorded'),
    'session/' || new.session_id, jsonb_build_object('jobId', new.id));
  return null;
end
$$;

-- Not for jobs that ended only because another one failed: that one has its own notice.
create or replace trigger jobs_failure_notices after update of status on jobs
  for each row when (new.status = 'failed' and old.status <> 'failed' and coalesce(
    new.error->>'code' not in ('child_failed', 'prerequisite_failed', 'quorum_missed'), true))
  execute function add_failure_notice();

-- `shortages` says which limit closed the gate; src/cli/gate-advice.ts gives the same advice.
create or replace function add_pause_notice() returns trigger language plpgsql as $$
declare
  gate text;
  scope text;
  project text;
  amount text;
  resume text := 'dialectic resume ' || new.id;
begin
  foreach gate in array new.gates loop
    continue when gate = any (old.gates) or gate not in ('budget', 'funds', 'approval');
    scope := new.shortages->gate->>'scope';
    project := case when scope = 'project' then ' --project ' || new.project_id else '' end;
    amount := case new.shortages->gate->>'currency' when 'token' then 'TOKENS --tokens'
      else 'DOLLARS' end;
    insert into notices (tenant_id, id, severity, code, message, topic, details)
    values (new.tenant_id, gen_random_uuid(), 'warning',
      case gate when 'budget' then 'budget_reached' when 'funds' then 'funds_exhausted'
        else 'approval_needed' end,
      case
        when gate = 'approval' then format('One call would take more than the set share of the '
          'wallet, so the session is paused. Approve it and all later calls with: %s', resume)
        when gate = 'funds' then format('The wallet is short, so the session is paused. Add to it '
          'with: dialectic wallet grant %s%s. Then: %s', amount, project, resume)
        when coalesce(scope, 'session') <> 'session' then format('The budget of the %s is reached, '
          'so the session is paused. Raise it with: dialectic wallet budget %s%s. Then: %s', scope,
          amount, project, resume)
        else format('The budget of the session is reached, so it is paused. Raise it with: %s %s',
          resume, case new.shortages->gate->>'currency' when 'token'
            then '--budget-tokens TOKENS' else '--budget DOLLARS' end)
      end,
      'session/' || new.id, jsonb_build_object('gate', gate));
  end loop;
  return null;
end
$$;
create or replace trigger sessions_pause_notices after update of gates on sessions
  for each row when (old.gates <> new.gates) execute function add_pause_notice();
