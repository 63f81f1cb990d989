-- Where lanes stand in a stage, and the barriers between their steps.

-- Lanes: notes which steps have ended and wakes every lane that waits at a barrier of the stage. The
-- stage run's row is locked first, by the update of its version or before it, so that lanes which end
-- together see each other. No statement takes more than FOR NO KEY UPDATE: inserting a job takes FOR KEY
-- SHARE on the stage run for its foreign key, and two jobs that each insert a child and then end would
-- otherwise wait for each other's share lock. `runs` are the stage runs of `ended`; one of another tenant
-- that has the same id is looked at for nothing.
create or replace function settle_lanes(
  ended job_end[], tenants uuid[], runs uuid[], has_lanes boolean, has_losses boolean
) returns void language plpgsql as $$
begin
  -- An update locks in no order that could be relied on.
  if runs[1] <> any (runs) then
    perform 1 from stage_runs r where r.tenant_id = any (tenants) and r.id = any (runs)
      order by r.id for no key update;
  end if;
  -- After the greatest number that JavaScript holds comes 1 again: a tenant may write any, and a sum that
  -- overflowed would end the batch in which jobs of other tenants end, too.
  update stage_runs r set version = r.version % 9007199254740991 + 1
  where r.tenant_id = any (tenants) and r.id = any (runs);

  update lane_steps l set
    state = case when g.lost and g.succeeded < g.needed then 'failed' else 'completed' end,
    degraded = g.lost and g.succeeded >= g.needed
  from (
    select tenant_id, stage_run_id, lane_id, parent_job_id, step_key,
      bool_and(status = 'cancelled') as is_cancelled
    from unnest(ended) where counts and lane_id is not null and parent_job_id is not null
    group by tenant_id, stage_run_id, lane_id, parent_job_id, step_key
  ) as e
  cross join lateral children_by_step(e.tenant_id, e.parent_job_id) as g
  where g.step_key = e.step_key and (g.open = 0 or (g.lost and g.needed > g.succeeded + g.open))
    and l.tenant_id = e.tenant_id and l.stage_run_id = e.stage_run_id
    and l.lane_id = e.lane_id and l.step_key = e.step_key
    -- What was cancelled before it began has not failed.
    and not (l.state = 'waiting' and e.is_cancelled);

  if has_losses then
    insert into lane_steps (tenant_id, stage_run_id, lane_id, step_key, state)
    select j.tenant_id, j.stage_run_id, j.lane_id, '*', 'failed' from unnest(ended) as e
    join jobs j on j.tenant_id = e.tenant_id and j.id = e.id
    where j.role = 'lane' and e.status in ('failed', 'cancelled')
    on conflict (tenant_id, stage_run_id, lane_id, step_key) do update set state = 'failed';
  end if;
  if has_lanes then
    perform settle_stages(tenants, runs);
  end if;

  -- An update of no rows would fire the triggers of jobs all the same.
  if exists (select from jobs w where w.tenant_id = any (tenants) and w.stage_run_id = any (runs)
    and w.status = 'waiting_for_lanes')
  then
    update jobs w set status = 'pending_next_step', run_after = app_now()
    where w.tenant_id = any (tenants) and w.stage_run_id = any (runs)
      and w.status = 'waiting_for_lanes';
  end if;
end
$$;

-- A stage ends with the last of its lanes.
create or replace function settle_stages(tenants uuid[], runs uuid[]) returns void
  language plpgsql as $$
begin
  update stage_runs r set state = coalesce(o.outcome, r.state),
    degraded = r.degraded or coalesce(o.lost, false),
    finished_at = case when o.outcome is null then r.finished_at else app_now() end
  from stage_runs e
  cross join lateral (
    select case when bool_and(is_over(j.status)) then
        case when bool_or(j.status in ('completed', 'superseded')) then 'completed'
          when bool_or(j.status = 'failed') then 'failed' else 'cancelled' end
      end as outcome,
      bool_or(j.status in ('failed', 'cancelled') or j.degraded) as lost
    from jobs j
    where j.tenant_id = e.tenant_id and j.stage_run_id = e.id
      and j.role = 'lane' and not j.continued
  ) as o
  where e.tenant_id = any (tenants) and e.id = any (runs)
    and r.tenant_id = e.tenant_id and r.id = e.id;
end
$$;
