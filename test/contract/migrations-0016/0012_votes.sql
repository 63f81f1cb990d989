-- How the lane that the results follow was chosen. `default`: there was nothing to count, so the
-- first lane stands. `vote` is the count itself: who ranked whom, what was not counted and why.
alter table sessions
  drop constraint sessions_chosen_by_check,
  add constraint sessions_chosen_by_check check (chosen_by in ('ballots', 'person', 'default')),
  add column vote jsonb;
