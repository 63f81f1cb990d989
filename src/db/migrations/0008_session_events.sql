-- Events of sessions, stages, steps, jobs, calls and documents, which triggers write from here on
-- (functions/job-events.sql, session-events.sql and document-events.sql).

-- The events of a claim name the lane's number and model; neither is content.
call open_table('lanes', 'dialectic_worker', 'select');

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
  case when j.status = 'completed' and j.continued then 'job-continued'
    when j.status in ('completed', 'failed', 'cancelled', 'superseded') then 'job-' || j.status
    else 'job-created' end,
  jsonb_build_object('status', j.status, 'type', j.job_type, 'stage', r.stage_key,
    'iteration', r.iteration, 'laneId', j.lane_id, 'lane', l.ordinal, 'model', l.model,
    'step', j.step_key, 'jobId', j.id, 'chainId', j.chain_id,
    'documentKey', coalesce(j.payload->'planned'->>'documentKey', j.payload->>'documentKey'),
    'error', case when j.error is not null
      then jsonb_build_object('code', j.error->'code', 'message', j.error->'message') end)
from jobs j
left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
order by j.seq;
reset role;
