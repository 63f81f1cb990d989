-- The states of a job and the ways between them; the trigger jobs_change_events refuses every other
-- change.

-- Every way on that a status has; src/jobs/transitions.ts is the same table for the program.
create or replace function may_follow(from_status text, to_status text) returns boolean
  language sql immutable parallel safe
  return case from_status
    when 'pending' then to_status in ('processing', 'cancelled', 'failed')
    when 'retrying' then to_status in ('processing', 'cancelled', 'failed')
    when 'pending_next_step' then to_status in ('processing', 'cancelled', 'failed')
    when 'pending_continuation' then to_status in ('processing', 'cancelled', 'failed')
    when 'processing' then to_status in ('waiting_for_children', 'waiting_for_lanes', 'retrying',
      'pending', 'pending_next_step', 'completed', 'failed', 'cancelled')
    when 'waiting_for_children' then to_status in ('pending_next_step', 'completed', 'cancelled',
      'failed')
    when 'waiting_for_lanes' then to_status in ('pending_next_step', 'cancelled', 'failed')
    when 'waiting_for_prerequisite' then to_status in ('pending', 'cancelled', 'failed')
    when 'completed' then to_status = 'superseded'
    when 'failed' then to_status in ('pending', 'waiting_for_children', 'waiting_for_prerequisite')
    when 'cancelled' then to_status in ('pending', 'waiting_for_children', 'waiting_for_prerequisite')
    else false
  end;

-- Raised inside of the statement that tells of changes (tell_job_changes): a row trigger of its own
-- took a tenth of the time of a claim.
create or replace function refuse_transition(from_status text, to_status text) returns text
  language plpgsql immutable parallel safe as $$
begin
  raise exception 'a job that is % cannot become %', from_status, to_status
    using errcode = 'DX000', hint = 'job_transition_refused';
end
$$;

-- The rule that a cancelled job has a reason is checked before tell_job_changes sees the row, and would
-- answer in its stead: changes from and to `cancelled` are therefore looked at earlier.
create or replace function refuse_cancelled() returns trigger language plpgsql as $$
begin
  if old.status <> new.status and not may_follow(old.status, new.status) then
    perform refuse_transition(old.status, new.status);
  end if;
  return new;
end
$$;
create or replace trigger jobs_cancelled before update of status on jobs
  for each row when (old.status = 'cancelled' or new.status = 'cancelled')
  execute function refuse_cancelled();

create or replace function is_over(status text) returns boolean
  language sql immutable parallel safe
  return status in ('completed', 'failed', 'cancelled', 'superseded');

-- The opposite, as a list that the index of a parent's children can be asked for.
create or replace function is_open(status text) returns boolean
  language sql immutable parallel safe
  return status in ('pending', 'processing', 'retrying', 'pending_next_step',
    'pending_continuation', 'waiting_for_children', 'waiting_for_lanes', 'waiting_for_prerequisite');
