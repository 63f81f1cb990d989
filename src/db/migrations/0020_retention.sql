-- Projects that are archived, and projects that can be erased (functions/erase.sql).

alter table projects add column archived_at timestamptz;

-- The ledger outlives what was bought: postings and holds keep the bare id of an erased session.
alter table postings drop constraint postings_tenant_id_session_id_fkey;
alter table holds drop constraint holds_tenant_id_session_id_fkey;

-- Erasing runs as the owner of the ledger's functions, tied to the tenant of the transaction.
call open_to_ledger('projects', 'select, update, delete');
call open_to_ledger('resources', 'select, delete');
call open_to_ledger('recipe_versions', 'select, delete');
call open_to_ledger('recipe_stages', 'select, delete');
call open_to_ledger('lane_steps', 'select, delete');
call open_to_ledger('contributions', 'select, delete');
call open_to_ledger('documents', 'select, delete');
call open_to_ledger('feedback', 'select, delete');
call open_to_ledger('notices', 'select, delete');
call open_to_ledger('blobs', 'select, delete');
do $$
begin
  if ledger_owner() = 'dialectic_ledger' then
    grant delete on sessions, stage_runs, lanes, jobs, model_calls to dialectic_ledger;
    grant select, delete on events to dialectic_ledger;
    -- A row lock needs the right to update.
    grant update on sessions, jobs to dialectic_ledger;
  end if;
end
$$;

-- For each deleted row PostgreSQL looks for rows that refer to it; without an index that is a scan.
create index contributions_of_job on contributions (tenant_id, job_id);
create index contributions_of_blob on contributions (tenant_id, blob_hash);
create index documents_of_job on documents (tenant_id, job_id);
create index documents_of_contribution on documents (tenant_id, contribution_id);
create index documents_of_page on documents (tenant_id, markdown_hash);
create index documents_of_body on documents (tenant_id, body_hash);
create index model_calls_of_request on model_calls (tenant_id, request_hash);
create index model_calls_of_contribution on model_calls (tenant_id, contribution_id);
