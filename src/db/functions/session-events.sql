-- Events of sessions, stages and steps; their rows change one at a time.

create or replace function tell_session(of_tenant uuid, of_session uuid, of_kind text, payload jsonb)
  returns void language sql as $$
  insert into events (tenant_id, topic, kind, payload)
  values (of_tenant, 'session/' || of_session, of_kind, payload)
$$;

-- Pauses have a reason: the gate, `review` where a person is to look at a stage, or `until` where the
-- run was asked to stop. A session that completed and runs again makes another pass.
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
          then jsonb_build_object('reason', new.awaiting)
        when new.status = 'failed' then jsonb_build_object('error', (
          select short_error(j.error) from jobs j
          where j.tenant_id = new.tenant_id and j.session_id = new.id and j.status = 'failed'
            and j.parent_job_id is null order by j.finished_at desc limit 1))
        when tg_op = 'UPDATE' and old.status = 'awaiting_review' and new.status = 'running'
          then jsonb_build_object('reason', old.awaiting)
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
create or replace trigger sessions_creation_events after insert on sessions
  for each row execute function tell_session_change();
create or replace trigger sessions_change_events after update of status, gates on sessions
  for each row when (old.status <> new.status or old.gates <> new.gates)
  execute function tell_session_change();

create or replace function tell_stage() returns trigger language plpgsql as $$
declare
  verb text := new.state;
begin
  if new.state = 'running' then
    verb := case tg_op when 'INSERT' then 'started' else 'retried' end;
  end if;
  perform tell_session(new.tenant_id, new.session_id, 'stage-' || verb,
    jsonb_build_object('stage', new.stage_key, 'iteration', new.iteration,
      'degraded', new.degraded));
  return null;
end
$$;
create or replace trigger stage_runs_creation_events after insert on stage_runs
  for each row execute function tell_stage();
create or replace trigger stage_runs_change_events after update of state on stage_runs
  for each row when (old.state <> new.state) execute function tell_stage();

-- A step of a lane; of one that waits for another nothing is told. The step '*' says that the lane itself
-- ended before its steps did. The error is that of the job that failed first; the jobs of the session are
-- read only where a step failed.
create or replace function tell_step() returns trigger language plpgsql as $$
declare
  verb text := new.state;
begin
  if new.state = 'running' then
    verb := 'started';
    if tg_op = 'UPDATE' and old.state = 'failed' then
      verb := 'retried';
    end if;
  end if;
  insert into events (tenant_id, topic, kind, payload)
  select new.tenant_id, 'session/' || r.session_id,
    case when new.step_key = '*' then 'lane-' else 'step-' end || verb,
    jsonb_build_object('stage', r.stage_key, 'iteration', r.iteration, 'laneId', new.lane_id,
      'degraded', new.degraded, 'lane', l.ordinal, 'model', l.model)
    || case when new.step_key = '*' then '{}' else jsonb_build_object('step', new.step_key) end
    || case when new.state <> 'failed' then '{}' else jsonb_build_object('error', (
      select short_error(j.error) from jobs j
      where j.tenant_id = new.tenant_id and j.session_id = r.session_id
        and j.stage_run_id = new.stage_run_id and j.lane_id = new.lane_id
        and j.step_key is not distinct from nullif(new.step_key, '*')
        and j.counts and j.status in ('failed', 'cancelled')
      order by j.finished_at limit 1)) end
  from stage_runs r
  left join lanes l on l.tenant_id = r.tenant_id and l.id = new.lane_id
  where r.tenant_id = new.tenant_id and r.id = new.stage_run_id;
  return null;
end
$$;
create or replace trigger lane_steps_creation_events after insert on lane_steps
  for each row when (new.state <> 'waiting') execute function tell_step();
create or replace trigger lane_steps_change_events after update of state on lane_steps
  for each row when (old.state <> new.state) execute function tell_step();
