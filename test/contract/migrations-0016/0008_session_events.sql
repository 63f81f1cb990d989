-- Events that a screen can live on: of sessions, stages, steps, jobs, calls and documents.
--
-- Jobs and steps change many at a time, so their events are written by one insert … select for each
-- statement. One row holds the events of all jobs that share session, kind, stage, lane, step and
-- type: what they share stands in the payload, the rest in its list `each`, and readers unfold it
-- (docs/decisions/events-of-jobs.md has the figures). All other rows change one at a time.

-- The events of a claim name the lane's number and model; neither is content.
call open_table('lanes', 'dialectic_worker', 'select');

-- The change of a job's status as the verb of its event. A link whose chain goes on is `continued`:
-- `completed` is said of the chain's end alone.
create function job_event_kind(from_status text, to_status text, is_continued boolean)
  returns text language sql immutable parallel safe
  return case
    when to_status = 'processing' then 'job-started'
    when to_status = 'retrying' then 'job-retried'
    when to_status = 'completed' and is_continued then 'job-continued'
    when to_status in ('completed', 'failed', 'cancelled', 'superseded') then 'job-' || to_status
    when from_status in ('failed', 'cancelled') then 'job-reopened'
    when to_status in ('waiting_for_children', 'waiting_for_lanes') then 'job-suspended'
    when from_status = 'processing' then 'job-requeued'
    else 'job-woken'
  end;

create function short_error(error jsonb) returns jsonb
  language sql immutable parallel safe
  return case when error is not null
    then jsonb_build_object('code', error->'code', 'message', error->'message') end;

-- The document that a job writes or renders.
create function document_key_of(payload jsonb) returns text
  language sql immutable parallel safe
  return coalesce(payload->'planned'->>'documentKey', payload->>'documentKey');

create function tell_new_jobs() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, 'job-created', jsonb_build_object(
    'status', n.status, 'type', n.job_type, 'stage', min(r.stage_key), 'iteration', min(r.iteration),
    'laneId', n.lane_id, 'lane', min(l.ordinal), 'model', min(l.model), 'step', n.step_key,
    'each', jsonb_agg(jsonb_build_object('jobId', n.id, 'chainId', n.chain_id,
      'documentKey', document_key_of(n.payload)) order by n.seq))
  from new_rows n
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = n.tenant_id and s.id = n.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = n.tenant_id and a.id = n.lane_id limit 1) as l on true
  group by n.tenant_id, n.session_id, n.status, n.job_type, n.stage_run_id, n.lane_id, n.step_key
  order by min(n.seq);
  return null;
end
$$;
-- Fires before jobs_insertion, which wakes and cancels: triggers fire in the order of their names.
create trigger jobs_creation_events after insert on jobs
  referencing new table as new_rows
  for each statement execute function tell_new_jobs();

create function tell_job_changes() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, n.kind, jsonb_build_object(
    'status', n.status, 'type', n.job_type, 'stage', min(r.stage_key), 'iteration', min(r.iteration),
    'laneId', n.lane_id, 'lane', min(l.ordinal), 'model', min(l.model), 'step', n.step_key,
    'each', jsonb_agg(jsonb_build_object('jobId', n.id, 'chainId', n.chain_id,
        'documentKey', document_key_of(n.payload))
      || case when n.status in ('failed', 'cancelled', 'retrying')
        then jsonb_build_object('error', short_error(n.error)) else '{}' end
      || case when n.status = 'retrying'
        then jsonb_build_object('attempt', n.attempt, 'nextTryAt', n.run_after) else '{}' end
      order by n.seq))
  from (
    select c.*, job_event_kind(o.status, c.status, c.continued) as kind
    from new_rows c join old_rows o on o.tenant_id = c.tenant_id and o.id = c.id
    where c.status <> o.status
  ) as n
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = n.tenant_id and s.id = n.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = n.tenant_id and a.id = n.lane_id limit 1) as l on true
  group by n.tenant_id, n.session_id, n.kind, n.status, n.job_type, n.stage_run_id, n.lane_id,
    n.step_key
  order by min(n.seq);
  return null;
end
$$;
-- Fires before jobs_completion: the end of a job is told before the wake-ups that follow from it.
create trigger jobs_change_events after update on jobs
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_job_changes();

alter function tell_new_jobs() set enable_seqscan = off;
alter function tell_job_changes() set enable_seqscan = off;

-- As in migration 0003, without the event of its own.
create or replace function handle_job_completion() returns trigger language plpgsql as $$
declare
  ended job_end[];
begin
  select array_agg(row(n.tenant_id, n.id, n.status, n.counts, n.parent_job_id, n.chain_id,
    n.stage_run_id, n.lane_id, n.step_key, n.dependency_policy)::job_end)
  into ended
  from new_rows n join old_rows o on o.tenant_id = n.tenant_id and o.id = n.id
  where n.status in ('completed', 'failed', 'cancelled') and not is_over(o.status)
    and not n.continued;
  if ended is null then
    return null;
  end if;

  if exists (select from unnest(ended) as e where e.stage_run_id is not null) then
    perform settle_lanes(ended);
  end if;
  if exists (select from unnest(ended) as e where e.parent_job_id is not null and e.counts) then
    perform settle_parents(ended);
  end if;
  -- Whoever inserts a waiter knows the first link and locks it, so the end of a later one must too.
  if exists (select from unnest(ended) as e where e.chain_id <> e.id) then
    perform 1 from jobs f
      where (f.tenant_id, f.id) in (select e.tenant_id, e.chain_id from unnest(ended) as e)
      order by f.id for update;
  end if;
  perform wake_waiters(ended);
  if exists (select from unnest(ended) as e where e.status <> 'completed') then
    perform cancel_children(ended);
  end if;
  return null;
end
$$;
alter function handle_job_completion() set enable_seqscan = off;

-- What the events of one job say of it, beside their own fields.
create function describe_job(of_tenant uuid, of_job uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('jobId', j.id, 'chainId', j.chain_id, 'type', j.job_type,
    'stage', r.stage_key, 'iteration', r.iteration, 'laneId', j.lane_id, 'lane', l.ordinal,
    'model', l.model, 'step', j.step_key, 'documentKey', document_key_of(j.payload))
  from jobs j
  left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
  left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
  where j.tenant_id = of_tenant and j.id = of_job
$$;

create function tell_session(of_tenant uuid, of_session uuid, of_kind text, payload jsonb)
  returns void language sql as $$
  insert into events (tenant_id, topic, kind, payload)
  values (of_tenant, 'session/' || of_session, of_kind, payload)
$$;

-- A step of a lane. The step '*' says that the lane itself ended before its steps did. The error is
-- that of the job that failed first; the jobs of the session are read only where a step failed.
create function tell_step() returns trigger language plpgsql as $$
declare
  run stage_runs;
  about jsonb;
  verb text := new.state;
begin
  select r.* into run from stage_runs r where r.tenant_id = new.tenant_id and r.id = new.stage_run_id;
  if new.state = 'running' then
    verb := 'started';
    if tg_op = 'UPDATE' and old.state = 'failed' then
      verb := 'retried';
    end if;
  end if;
  about := jsonb_build_object('stage', run.stage_key, 'iteration', run.iteration,
    'laneId', new.lane_id, 'degraded', new.degraded) || coalesce((
      select jsonb_build_object('lane', l.ordinal, 'model', l.model) from lanes l
      where l.tenant_id = new.tenant_id and l.id = new.lane_id), '{"lane": null, "model": null}');
  if new.step_key <> '*' then
    about := about || jsonb_build_object('step', new.step_key);
  end if;
  if new.state = 'failed' then
    about := about || jsonb_build_object('error', (
      select short_error(j.error) from jobs j
      where j.tenant_id = new.tenant_id and j.session_id = run.session_id
        and j.stage_run_id = new.stage_run_id and j.lane_id = new.lane_id
        and j.step_key is not distinct from nullif(new.step_key, '*')
        and j.counts and j.status in ('failed', 'cancelled')
      order by j.finished_at limit 1));
  end if;
  perform tell_session(new.tenant_id, run.session_id,
    case when new.step_key = '*' then 'lane-' else 'step-' end || verb, about);
  return null;
end
$$;
create trigger lane_steps_creation_events after insert on lane_steps
  for each row execute function tell_step();
create trigger lane_steps_change_events after update of state on lane_steps
  for each row when (old.state <> new.state) execute function tell_step();

create function tell_stage() returns trigger language plpgsql as $$
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
create trigger stage_runs_creation_events after insert on stage_runs
  for each row execute function tell_stage();
create trigger stage_runs_change_events after update of state on stage_runs
  for each row when (old.state <> new.state) execute function tell_stage();

-- Pauses have a reason: the gate, or `review` where a person is to look at a stage. A session that
-- completed and runs again makes another pass.
create function tell_session_change() returns trigger language plpgsql as $$
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
        when new.status = 'awaiting_review' then '{"reason": "review"}'
        when new.status = 'failed' then jsonb_build_object('error', (
          select short_error(j.error) from jobs j
          where j.tenant_id = new.tenant_id and j.session_id = new.id and j.status = 'failed'
            and j.parent_job_id is null order by j.finished_at desc limit 1))
        when tg_op = 'UPDATE' and old.status = 'awaiting_review' and new.status = 'running'
          then '{"reason": "review"}'
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
create trigger sessions_creation_events after insert on sessions
  for each row execute function tell_session_change();
create trigger sessions_change_events after update of status, gates on sessions
  for each row when (old.status <> new.status or old.gates <> new.gates)
  execute function tell_session_change();

-- As in migration 0004, without the event of its own.
create or replace function fail_session() returns trigger language plpgsql as $$
begin
  update sessions set status = 'failed'
  where tenant_id = new.tenant_id and id = new.session_id and status = 'running';
  return null;
end
$$;

create function tell_contribution() returns trigger language plpgsql as $$
begin
  perform tell_session(new.tenant_id, new.session_id, 'contribution-received',
    describe_job(new.tenant_id, new.job_id) || jsonb_build_object('contributionId', new.id,
      'ordinal', new.ordinal, 'finishReason', new.finish_reason));
  return null;
end
$$;
create trigger contributions_creation_events after insert on contributions
  for each row execute function tell_contribution();

-- What a call took, with its end: `cut` where its process died and what had arrived was kept.
create function tell_call_end() returns trigger language plpgsql as $$
begin
  perform tell_session(new.tenant_id, new.session_id, 'call-ended',
    describe_job(new.tenant_id, new.job_id) || jsonb_build_object('callId', new.id,
      'model', new.model, 'purpose', new.purpose, 'outcome', new.status,
      'inputTokens', coalesce(new.input_tokens, 0), 'outputTokens', coalesce(new.output_tokens, 0),
      'costMicros', new.cost_micros));
  return null;
end
$$;
create trigger model_calls_change_events after update of status on model_calls
  for each row when (old.status = 'sent' and new.status <> 'sent')
  execute function tell_call_end();

-- The text itself stays in call_pieces while the call runs, and in its contribution after it.
create function tell_text() returns trigger language plpgsql as $$
begin
  perform tell_session(c.tenant_id, c.session_id, 'text-saved',
      describe_job(c.tenant_id, c.job_id) || jsonb_build_object('callId', c.id, 'model', c.model,
        'seq', new.seq, 'characters', length(new.body)))
  from model_calls c where c.tenant_id = new.tenant_id and c.id = new.call_id;
  return null;
end
$$;
create trigger call_pieces_creation_events after insert on call_pieces
  for each row execute function tell_text();

create function tell_document() returns trigger language plpgsql as $$
begin
  perform tell_session(new.tenant_id, new.session_id,
    case tg_op when 'INSERT' then 'document-created' else 'document-rendered' end,
    jsonb_build_object('documentId', new.id, 'documentKind', new.kind,
      'documentKey', new.document_key, 'version', new.version, 'stage', new.stage_key,
      'iteration', new.iteration, 'step', new.step_key, 'laneId', new.lane_id, 'jobId', new.job_id)
    || coalesce((select jsonb_build_object('lane', l.ordinal, 'model', l.model) from lanes l
      where l.tenant_id = new.tenant_id and l.id = new.lane_id), '{"lane": null, "model": null}'));
  return null;
end
$$;
create trigger documents_creation_events after insert on documents
  for each row execute function tell_document();
create trigger documents_change_events after update of markdown_hash on documents
  for each row when (new.markdown_hash is not null
    and old.markdown_hash is distinct from new.markdown_hash)
  execute function tell_document();

-- Sessions that began before this migration: what they, their stages and jobs are now, as events. The
-- role sees all tenants; an owner who is no superuser sees none under forced policies.
set local role dialectic_worker;
insert into events (tenant_id, topic, kind, payload)
select s.tenant_id, 'session/' || s.id, e.kind, e.payload || jsonb_build_object(
  'iteration', s.iteration)
from sessions s cross join lateral (
  select 'session-started' as kind, '{}'::jsonb as payload
  union all select 'session-paused', '{"reason": "review"}' where s.status = 'awaiting_review'
  union all select 'session-' || s.status, '{}' where s.status in ('completed', 'cancelled')
  union all select 'session-failed', '{"error": null}' where s.status = 'failed'
  union all select 'session-paused', jsonb_build_object('reason', g.gate)
    from unnest(s.gates) as g (gate)) as e
order by s.created_at, s.id;
insert into events (tenant_id, topic, kind, payload)
select r.tenant_id, 'session/' || r.session_id,
  'stage-' || case r.state when 'running' then 'started' else r.state end,
  jsonb_build_object('stage', r.stage_key, 'iteration', r.iteration, 'degraded', r.degraded)
from stage_runs r order by r.created_at, r.id;
insert into events (tenant_id, topic, kind, payload)
select j.tenant_id, 'session/' || j.session_id,
  case when is_over(j.status) then job_event_kind('processing', j.status, j.continued)
    else 'job-created' end,
  jsonb_build_object('status', j.status, 'type', j.job_type, 'stage', r.stage_key,
    'iteration', r.iteration, 'laneId', j.lane_id, 'lane', l.ordinal, 'model', l.model,
    'step', j.step_key, 'jobId', j.id, 'chainId', j.chain_id,
    'documentKey', document_key_of(j.payload), 'error', short_error(j.error))
from jobs j
left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
order by j.seq;
reset role;
