-- Replaced by functions with other arguments (functions/job-lanes.sql, functions/job-wake.sql).
drop function if exists settle_lanes(job_end[]);
drop function if exists settle_parents(job_end[]);
-- Replaced by describe_jobs() (functions/job-events.sql).
drop function if exists describe_job(uuid, uuid);
