-- A step all of whose jobs wait for a prerequisite has been planned and has not begun.
alter table lane_steps drop constraint lane_steps_state_check;
alter table lane_steps add constraint lane_steps_state_check
  check (state in ('waiting', 'running', 'completed', 'failed'));
