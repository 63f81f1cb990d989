-- Checked for all jobs of an insertion at once instead (functions/job-insertion.sql).
alter table jobs drop constraint jobs_tenant_id_session_id_fkey;
