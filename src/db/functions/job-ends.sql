-- The ends of jobs and sessions that do not wake anybody by themselves.

-- Ends jobs that had no effects but their end, as one statement for many; returns those whose lease
-- still held.
create or replace function complete_jobs(tenants uuid[], ids uuid[], tokens uuid[])
  returns setof uuid language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan as $$
begin
  return query
    update jobs j set status = 'completed', finished_at = app_now(), error = null,
      worker_id = null, lease_token = null, lease_until = null
    where j.tenant_id = any (tenants) and j.id = any (ids) and j.lease_token = any (tokens)
    returning j.id;
end
$$;

-- Ends jobs in the transaction that saves what they made, which holds their leases (hold_leases). A child
-- that could not even start may have failed one of them already; then that stands.
create or replace function complete_held_jobs(ids uuid[], tokens uuid[])
  returns void language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan as $$
begin
  update jobs j set status = 'completed', continued = false, attempt = 0, error = null,
    finished_at = app_now(), run_after = app_now(), committed_token = j.lease_token,
    worker_id = null, lease_token = null, lease_until = null
  where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
    and j.status = 'processing';
end
$$;

-- Lets jobs wait for their children, in the transaction that inserted these and holds their leases. With
-- `ends_alone` the end of the last child completes them (wake_parents). One that a child which could not
-- even start has failed has no lease any more, and stays failed.
create or replace function suspend_held_jobs(ids uuid[], tokens uuid[], ends_alone boolean)
  returns void language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set plan_cache_mode = force_generic_plan as $$
begin
  update jobs j set status = 'waiting_for_children', ends_with_children = ends_alone,
    continued = false, attempt = 0, takeovers = 0, error = null, finished_at = null,
    run_after = app_now(), committed_token = j.lease_token,
    worker_id = null, lease_token = null, lease_until = null
  where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens);
end
$$;

-- Cancels what lives of a session. Takes its locks in the order of a worker that settles a job: jobs of
-- steps that run, children before parents; stage runs; jobs that wait for others, and those of lanes and
-- stages; and with the update all others, which that worker wakes or cancels last. Where a failing job
-- cancels a tree of others the orders still differ: on deadlock this statement is the victim and tries
-- again. The last turn finds what was inserted meanwhile.
create or replace function cancel_jobs(of_tenant uuid, of_session uuid)
  returns void language plpgsql
  set enable_seqscan = off as $$
begin
  loop
    begin
      perform 1 from jobs j
        where j.tenant_id = of_tenant and j.session_id = of_session and j.status = 'processing'
          and j.role = 'step'
        order by j.seq desc for update;
      perform 1 from stage_runs r where r.tenant_id = of_tenant and r.session_id = of_session
        order by r.id for no key update;
      perform 1 from jobs j
        where j.tenant_id = of_tenant and j.session_id = of_session
          and (j.status in ('waiting_for_children', 'waiting_for_lanes')
            or (j.status = 'processing' and j.role <> 'step'))
        order by j.id for update;
      update jobs j set status = 'cancelled', cancel_reason = 'session_cancelled',
        finished_at = app_now(),
        worker_id = null, lease_token = null, lease_until = null,
        error = '{"code": "session_cancelled", "message": "The session was cancelled."}'
      where j.tenant_id = of_tenant and j.session_id = of_session and not is_over(j.status);
      exit when not found;
    exception when deadlock_detected then
      null;
    end;
  end loop;
end
$$;

-- A parent that failed or was cancelled cancels the children that have not started; those that run may
-- finish and keep their result.
create or replace function cancel_children(ended job_end[]) returns void language plpgsql as $$
begin
  update jobs c set status = 'cancelled', cancel_reason = 'parent_ended',
    finished_at = app_now(),
    error = jsonb_build_object('code', 'parent_ended',
      'message', 'The job above this one ended before it could start.',
      'details', jsonb_build_object('jobId', e.id))
  from unnest(ended) as e
  where e.status in ('failed', 'cancelled') and c.tenant_id = e.tenant_id
    and c.parent_job_id = e.id and c.counts
    and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation',
      'waiting_for_children', 'waiting_for_lanes', 'waiting_for_prerequisite');
end
$$;

-- A stage that failed fails its session, whether a handler or the engine ended its job.
create or replace function fail_session() returns trigger language plpgsql as $$
begin
  update sessions set status = 'failed'
  where tenant_id = new.tenant_id and id = new.session_id and status = 'running';
  return null;
end
$$;
create or replace trigger jobs_fail_session after update of status on jobs
  for each row when (new.status = 'failed' and old.status <> 'failed' and new.role = 'stage')
  execute function fail_session();
