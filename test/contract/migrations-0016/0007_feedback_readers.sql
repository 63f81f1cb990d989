-- The stage run that takes a piece of feedback up; null until one has opened that must. With it
-- every piece has exactly one stage whose prompts must hold it.
alter table feedback add column stage_run_id uuid;
alter table feedback add foreign key (tenant_id, stage_run_id) references stage_runs;
create index feedback_waiting on feedback (tenant_id, session_id) where stage_run_id is null;
grant update (stage_run_id) on feedback to dialectic_app;
