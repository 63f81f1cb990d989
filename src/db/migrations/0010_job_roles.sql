-- What a job stands for and why it was cancelled become columns, and statuses are checked.

alter table jobs
  add column role text not null default 'step' check (role in ('stage', 'lane', 'step')),
  add column cancel_reason text check (cancel_reason in ('parent_ended', 'session_cancelled'));

-- Policies hold for the owner of a table, too, unless it is the superuser: it must see all rows here.
alter table jobs no force row level security;
-- A RENDER job belongs to the step of the document that it renders.
update jobs r set step_key = p.step_key from jobs p
where r.job_type = 'RENDER' and r.step_key is null
  and p.tenant_id = r.tenant_id and p.id = r.parent_job_id;
update jobs set role = case when lane_id is not null then 'lane' else 'stage' end
where step_key is null and job_type = 'PLAN' and stage_run_id is not null;
update jobs set cancel_reason = case error->>'code' when 'parent_ended' then 'parent_ended'
  else 'session_cancelled' end
where status = 'cancelled';
alter table jobs force row level security;

alter table jobs
  add constraint jobs_status_known check (status in ('pending', 'processing', 'retrying',
    'pending_next_step', 'pending_continuation', 'waiting_for_children', 'waiting_for_lanes',
    'waiting_for_prerequisite', 'completed', 'failed', 'cancelled', 'superseded')),
  add constraint jobs_cancel_reason_given
    check ((status = 'cancelled') = (cancel_reason is not null)),
  -- A stage's job plans its lanes, a lane's root plans its steps; other jobs of a lane name a step.
  add constraint jobs_role_fits check (case role
    when 'stage' then job_type = 'PLAN' and stage_run_id is not null
      and lane_id is null and step_key is null
    when 'lane' then job_type = 'PLAN' and stage_run_id is not null
      and lane_id is not null and step_key is null
    else lane_id is null or step_key is not null end);

drop index jobs_lane_roots;
create index jobs_lane_roots on jobs (stage_run_id) where role = 'lane';
