-- Projects that hold several sessions, the overlays of both, and runs that stop before their end.

alter table sessions
  -- Why a session that is awaiting_review rests: null or 'review' = a person is to look at the
  -- stage; 'until' = the run was asked to stop after it, and resume opens the next one.
  add column awaiting text check (awaiting in ('review', 'until')),
  add column overlay json;
alter table projects add column overlay json;
create index projects_by_name on projects (tenant_id, name);

-- As in migration 0008, but a session that stopped where it was asked to says so.
create or replace function tell_session_change() returns trigger language plpgsql as $$
declare
  of_iteration jsonb := jsonb_build_object('iteration', new.iteration);
  gate text;
begin
  if tg_op = 'INSERT' or old.status <> new.status then
    perform tell_session(new.tenant_id, new.id,
      case
        when new.status = 'draft' then 'session-created'
        when new.status = 'awaiting_review' then 'session-paused'
        when new.status <> 'running' then 'session-' || new.status
        when tg_op = 'INSERT' then 'session-started'
        when old.status = 'awaiting_review' then 'session-resumed'
        when old.status = 'completed' then 'session-continued'
        when old.status in ('failed', 'cancelled') then 'session-retried'
        else 'session-started'
      end,
      of_iteration || case
        when new.status = 'awaiting_review'
          then jsonb_build_object('reason', coalesce(new.awaiting, 'review'))
        when new.status = 'failed' then jsonb_build_object('error', (
          select short_error(j.error) from jobs j
          where j.tenant_id = new.tenant_id and j.session_id = new.id and j.status = 'failed'
            and j.parent_job_id is null order by j.finished_at desc limit 1))
        when tg_op = 'UPDATE' and old.status = 'awaiting_review' and new.status = 'running'
          then jsonb_build_object('reason', coalesce(old.awaiting, 'review'))
        else '{}'
      end);
  end if;
  if tg_op = 'INSERT' then
    return null;
  end if;
  foreach gate in array new.gates loop
    continue when gate = any (old.gates);
    perform tell_session(new.tenant_id, new.id, 'session-paused', of_iteration
      || jsonb_build_object('reason', gate));
    if gate = 'budget' then
      perform tell_session(new.tenant_id, new.id, 'budget-reached', of_iteration
        || jsonb_build_object('scope', new.shortages->gate->'scope',
          'currency', new.shortages->gate->'currency'));
    end if;
  end loop;
  foreach gate in array old.gates loop
    -- Gates that go away because the session ends resume nothing.
    continue when gate = any (new.gates)
      or (old.status <> new.status and new.status in ('completed', 'failed', 'cancelled'));
    perform tell_session(new.tenant_id, new.id, 'session-resumed', of_iteration
      || jsonb_build_object('reason', gate));
  end loop;
  return null;
end
$$;
