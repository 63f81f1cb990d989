-- tables and columns
accounts.tenant_id uuid not null
accounts.id uuid not null default gen_random_uuid()
accounts.kind text not null
accounts.owner text not null default ''::text
accounts.currency text not null
accounts.unlimited boolean not null
accounts.balance bigint not null default 0
accounts.held bigint not null default 0
accounts.entry_count bigint not null default 0
accounts.spending_share double precision not null default 0.2
api_tokens.tenant_id uuid not null
api_tokens.id uuid not null
api_tokens.user_id uuid not null
api_tokens.name text not null
api_tokens.token_hash bytea not null
api_tokens.created_at timestamp with time zone not null default app_now()
api_tokens.expires_at timestamp with time zone
api_tokens.revoked_at timestamp with time zone
archived_bytes.tenant_id uuid not null
archived_bytes.hash text not null
archived_bytes.body bytea not null
blobs.tenant_id uuid not null
blobs.hash text not null
blobs.body text not null
budgets.tenant_id uuid not null
budgets.scope text not null
budgets.owner_id uuid not null
budgets.currency text not null
budgets.amount bigint not null
budgets.spent bigint not null default 0
budgets.held bigint not null default 0
call_parts.tenant_id uuid not null
call_parts.call_id uuid not null
call_parts.ordinal integer not null
call_parts.role text
call_parts.blob_hash text not null
call_pieces.tenant_id uuid not null
call_pieces.call_id uuid not null
call_pieces.seq integer not null
call_pieces.body text not null
concurrency_limits.tenant_id uuid not null
concurrency_limits.key text not null
concurrency_limits.max_running integer not null
contributions.tenant_id uuid not null
contributions.id uuid not null
contributions.session_id uuid not null
contributions.job_id uuid not null
contributions.chain_id uuid not null
contributions.ordinal integer not null
contributions.blob_hash text not null
contributions.finish_reason text not null
contributions.created_at timestamp with time zone not null default app_now()
documents.tenant_id uuid not null
documents.id uuid not null
documents.session_id uuid not null
documents.kind text not null
documents.iteration integer not null
documents.stage_key text not null
documents.step_key text
documents.document_key text
documents.lane_id uuid
documents.identity text not null
documents.version integer not null default 1
documents.superseded boolean not null default false
documents.job_id uuid
documents.contribution_id uuid
documents.source_group uuid
documents.relationships jsonb not null default '{}'::jsonb
documents.inputs jsonb not null default '[]'::jsonb
documents.content json
documents.markdown_hash text
documents.created_at timestamp with time zone not null default app_now()
documents.anchor_id uuid default ((relationships ->> stage_key))::uuid
documents.missing jsonb not null default '[]'::jsonb
documents.body_hash text
documents.citations jsonb
entries.tenant_id uuid not null
entries.posting_id bigint not null
entries.account_id uuid not null
entries.currency text not null
entries.amount bigint not null
entries.seq bigint not null
entries.balance bigint not null
events.tenant_id uuid not null
events.tx xid8 not null default pg_current_xact_id()
events.id bigint not null identity
events.topic text not null
events.kind text not null
events.payload jsonb not null default '{}'::jsonb
events.created_at timestamp with time zone not null default app_now()
feedback.tenant_id uuid not null
feedback.id uuid not null
feedback.session_id uuid not null
feedback.iteration integer not null
feedback.stage_key text not null
feedback.document_id uuid
feedback.question text
feedback.body text not null
feedback.created_at timestamp with time zone not null default app_now()
feedback.stage_run_id uuid
holds.tenant_id uuid not null
holds.call_id uuid not null
holds.purpose text not null
holds.session_id uuid
holds.provider text not null
holds.status text not null default 'held'::text
holds.usd bigint not null
holds.tokens bigint not null
holds.input_usd bigint not null default 0
holds.input_tokens bigint not null default 0
holds.price jsonb
holds.usd_account_id uuid not null
holds.token_account_id uuid not null
holds.created_at timestamp with time zone not null default app_now()
holds.settled_at timestamp with time zone
jobs.tenant_id uuid not null
jobs.id uuid not null
jobs.seq bigint not null identity
jobs.session_id uuid not null
jobs.stage_run_id uuid
jobs.lane_id uuid
jobs.step_key text
jobs.job_type text not null
jobs.counts boolean not null default (job_type <> 'RENDER'::text)
jobs.status text not null default 'pending'::text
jobs.parent_job_id uuid
jobs.prerequisite_job_id uuid
jobs.chain_id uuid not null
jobs.continued boolean not null default false
jobs.dependency_policy text not null default 'all'::text
jobs.quorum integer
jobs.degraded boolean not null default false
jobs.concurrency_key text
jobs.attempt integer not null default 0
jobs.max_attempts integer
jobs.takeovers integer not null default 0
jobs.run_after timestamp with time zone not null default app_now()
jobs.worker_id uuid
jobs.lease_token uuid
jobs.lease_until timestamp with time zone
jobs.input_digest text
jobs.idempotency_key text
jobs.payload jsonb not null default '{}'::jsonb
jobs.error jsonb
jobs.created_at timestamp with time zone not null default app_now()
jobs.started_at timestamp with time zone
jobs.finished_at timestamp with time zone
jobs.role text not null default 'step'::text
jobs.cancel_reason text
jobs.committed_token uuid
jobs.document_key text
jobs.document_identity text
jobs.source_group uuid
jobs.responding_lane_id uuid
jobs.ends_with_children boolean not null default false
lane_steps.tenant_id uuid not null
lane_steps.stage_run_id uuid not null
lane_steps.lane_id uuid not null
lane_steps.step_key text not null
lane_steps.state text not null
lane_steps.degraded boolean not null default false
lanes.tenant_id uuid not null
lanes.id uuid not null
lanes.session_id uuid not null
lanes.ordinal integer not null
lanes.model text not null
memory_chunks.tenant_id uuid not null
memory_chunks.item text not null
memory_chunks.place integer not null
memory_chunks.digest text not null
memory_chunks.body text not null
memory_chunks.words tsvector not null
memory_chunks.size integer not null
memory_chunks.project_id uuid not null
memory_items.tenant_id uuid not null
memory_items.session_id uuid not null
memory_items.item text not null
memory_shortened.tenant_id uuid not null
memory_shortened.key text not null
memory_shortened.body text not null
memory_shortened.project_id uuid not null
memory_vectors.tenant_id uuid not null
memory_vectors.digest text not null
memory_vectors.model text not null
memory_vectors.dimensions integer not null
memory_vectors.vector real[] not null
memory_vectors.project_id uuid not null
model_calls.tenant_id uuid not null
model_calls.id uuid not null
model_calls.session_id uuid not null
model_calls.job_id uuid not null
model_calls.model text not null
model_calls.purpose text not null
model_calls.status text not null default 'sent'::text
model_calls.request_hash text
model_calls.contribution_id uuid
model_calls.finish_reason text
model_calls.input_tokens bigint
model_calls.output_tokens bigint
model_calls.cached_input_tokens bigint
model_calls.usage_estimated boolean not null default false
model_calls.cost_micros bigint
model_calls.error jsonb
model_calls.started_at timestamp with time zone not null default app_now()
model_calls.finished_at timestamp with time zone
model_calls.origin text not null default 'model'::text
model_calls.recorded_cost_micros bigint
model_calls.shortened json not null default '[]'::json
model_calls.counted_tokens integer
model_calls.begins_with uuid
notices.tenant_id uuid not null
notices.id uuid not null
notices.severity text not null
notices.code text not null
notices.message text not null
notices.topic text not null
notices.details jsonb not null default '{}'::jsonb
notices.created_at timestamp with time zone not null default app_now()
notices.dismissed_at timestamp with time zone
performance.tenant_id uuid not null
performance.measured_at timestamp with time zone not null default app_now()
performance.metrics jsonb not null
postings.tenant_id uuid not null
postings.id bigint not null identity
postings.key text not null
postings.kind text not null
postings.content text not null
postings.session_id uuid
postings.call_id uuid
postings.refunds bigint
postings.estimated boolean not null default false
postings.details jsonb not null default '{}'::jsonb
postings.created_at timestamp with time zone not null default app_now()
projects.tenant_id uuid not null
projects.id uuid not null
projects.name text not null
projects.domain text
projects.brief_hash text not null
projects.created_at timestamp with time zone not null default app_now()
projects.overlay json
projects.archived_at timestamp with time zone
recipe_stages.tenant_id uuid not null
recipe_stages.hash text not null
recipe_stages.body json not null
recipe_versions.tenant_id uuid not null
recipe_versions.hash text not null
recipe_versions.process_key text not null
recipe_versions.manifest json not null
recipe_versions.created_at timestamp with time zone not null default app_now()
resources.tenant_id uuid not null
resources.id uuid not null
resources.project_id uuid not null
resources.kind text not null
resources.name text not null
resources.blob_hash text not null
resources.created_at timestamp with time zone not null default app_now()
schema_migrations.version integer not null
schema_migrations.name text not null
schema_migrations.digest text not null
schema_migrations.applied_at timestamp with time zone not null default now()
schema_migrations.edition integer not null default 0
sessions.tenant_id uuid not null
sessions.id uuid not null
sessions.status text not null default 'running'::text
sessions.gates text[] not null default '{}'::text[]
sessions.max_running integer
sessions.created_at timestamp with time zone not null default app_now()
sessions.project_id uuid
sessions.recipe_hash text
sessions.iteration integer not null default 1
sessions.review_stages boolean not null default false
sessions.allow_degraded boolean not null default false
sessions.until_stage text
sessions.writer_lane_id uuid
sessions.chosen_lane_id uuid
sessions.chosen_by text
sessions.spending_approved boolean not null default false
sessions.shortages jsonb not null default '{}'::jsonb
sessions.awaiting text
sessions.overlay json
sessions.vote jsonb
sessions.folder text
sessions.session_date text
source_copies.tenant_id uuid not null
source_copies.project_id uuid not null
source_copies.source integer not null
source_copies.sha256 text not null
source_copies.media_type text not null
source_copies.size integer not null
source_copies.bytes_hash text
source_copies.fetched_at timestamp with time zone not null default app_now()
source_excerpts.tenant_id uuid not null
source_excerpts.project_id uuid not null
source_excerpts.source integer not null
source_excerpts.ordinal integer not null
source_excerpts.blob_hash text not null
source_uses.tenant_id uuid not null
source_uses.document_id uuid not null
source_uses.ordinal integer not null
source_uses.project_id uuid not null
source_uses.source integer not null
source_uses.kind text not null
source_uses.place text not null
sources.tenant_id uuid not null
sources.project_id uuid not null
sources.ordinal integer not null
sources.key text not null
sources.title text not null
sources.about jsonb not null default '{}'::jsonb
sources.degraded text
sources.alias_of integer
sources.origin text not null
sources.admitted_at timestamp with time zone not null default app_now()
sources.checked_at timestamp with time zone
sources.check_state text
sources.check_details jsonb not null default '{}'::jsonb
sources.split_from integer[] not null default '{}'::integer[]
stage_runs.tenant_id uuid not null
stage_runs.id uuid not null
stage_runs.session_id uuid not null
stage_runs.iteration integer not null
stage_runs.stage_key text not null
stage_runs.state text not null default 'running'::text
stage_runs.version bigint not null default 0
stage_runs.degraded boolean not null default false
stage_runs.created_at timestamp with time zone not null default app_now()
stage_runs.finished_at timestamp with time zone
store_epoch.only_row boolean not null default true
store_epoch.epoch text not null default "left"((gen_random_uuid())::text, 8)
store_identity.only_row boolean not null default true
store_identity.id text not null default "left"(replace((gen_random_uuid())::text, '-'::text, ''::text), 12)
tenants.tenant_id uuid not null
tenants.name text not null
tenants.created_at timestamp with time zone not null default app_now()
users.tenant_id uuid not null
users.id uuid not null
users.email text not null
users.name text not null
users.is_owner boolean not null default false
users.created_at timestamp with time zone not null default app_now()

-- constraints
accounts accounts_currency_check CHECK ((currency = ANY (ARRAY['USD'::text, 'token'::text])))
accounts accounts_held_check CHECK ((held >= 0))
accounts accounts_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'project'::text, 'platform'::text, 'provider'::text])))
accounts accounts_never_negative CHECK ((unlimited OR (balance >= held)))
accounts accounts_pkey PRIMARY KEY (tenant_id, id)
accounts accounts_spending_share_check CHECK (((spending_share >= (0)::double precision) AND (spending_share <= (1)::double precision)))
accounts accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
accounts accounts_tenant_id_id_currency_key UNIQUE (tenant_id, id, currency)
accounts accounts_tenant_id_kind_owner_currency_key UNIQUE (tenant_id, kind, owner, currency)
api_tokens api_tokens_pkey PRIMARY KEY (tenant_id, id)
api_tokens api_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
api_tokens api_tokens_token_hash_key UNIQUE (token_hash)
archived_bytes archived_bytes_pkey PRIMARY KEY (tenant_id, hash)
archived_bytes archived_bytes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
blobs blobs_pkey PRIMARY KEY (tenant_id, hash)
blobs blobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
budgets budgets_amount_check CHECK ((amount >= 0))
budgets budgets_currency_check CHECK ((currency = ANY (ARRAY['USD'::text, 'token'::text])))
budgets budgets_held_check CHECK ((held >= 0))
budgets budgets_pkey PRIMARY KEY (tenant_id, scope, owner_id, currency)
budgets budgets_scope_check CHECK ((scope = ANY (ARRAY['session'::text, 'project'::text, 'tenant'::text])))
budgets budgets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
call_parts call_parts_pkey PRIMARY KEY (tenant_id, call_id, ordinal)
call_parts call_parts_role_check CHECK ((role = ANY (ARRAY['system'::text, 'user'::text, 'assistant'::text])))
call_parts call_parts_tenant_id_blob_hash_fkey FOREIGN KEY (tenant_id, blob_hash) REFERENCES blobs(tenant_id, hash)
call_parts call_parts_tenant_id_call_id_fkey FOREIGN KEY (tenant_id, call_id) REFERENCES model_calls(tenant_id, id)
call_pieces call_pieces_pkey PRIMARY KEY (tenant_id, call_id, seq)
call_pieces call_pieces_tenant_id_call_id_fkey FOREIGN KEY (tenant_id, call_id) REFERENCES model_calls(tenant_id, id)
concurrency_limits concurrency_limits_max_running_check CHECK ((max_running > 0))
concurrency_limits concurrency_limits_pkey PRIMARY KEY (tenant_id, key)
concurrency_limits concurrency_limits_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
contributions contributions_ordinal_check CHECK ((ordinal > 0))
contributions contributions_pkey PRIMARY KEY (tenant_id, id)
contributions contributions_tenant_id_blob_hash_fkey FOREIGN KEY (tenant_id, blob_hash) REFERENCES blobs(tenant_id, hash)
contributions contributions_tenant_id_chain_id_ordinal_key UNIQUE (tenant_id, chain_id, ordinal)
contributions contributions_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, id)
contributions contributions_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
documents documents_kind_check CHECK ((kind = ANY (ARRAY['document'::text, 'header_context'::text, 'seed_prompt'::text])))
documents documents_pkey PRIMARY KEY (tenant_id, id)
documents documents_tenant_id_body_hash_fkey FOREIGN KEY (tenant_id, body_hash) REFERENCES blobs(tenant_id, hash)
documents documents_tenant_id_contribution_id_fkey FOREIGN KEY (tenant_id, contribution_id) REFERENCES contributions(tenant_id, id)
documents documents_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, id)
documents documents_tenant_id_lane_id_fkey FOREIGN KEY (tenant_id, lane_id) REFERENCES lanes(tenant_id, id)
documents documents_tenant_id_markdown_hash_fkey FOREIGN KEY (tenant_id, markdown_hash) REFERENCES blobs(tenant_id, hash)
documents documents_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
documents documents_tenant_id_session_id_identity_version_key UNIQUE (tenant_id, session_id, identity, version)
documents documents_version_check CHECK ((version > 0))
entries entries_pkey PRIMARY KEY (tenant_id, account_id, seq)
entries entries_tenant_id_account_id_currency_fkey FOREIGN KEY (tenant_id, account_id, currency) REFERENCES accounts(tenant_id, id, currency)
entries entries_tenant_id_posting_id_fkey FOREIGN KEY (tenant_id, posting_id) REFERENCES postings(tenant_id, id)
events events_kind_check CHECK ((kind <> ''::text))
events events_pkey PRIMARY KEY (tenant_id, tx, id)
events events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
events events_topic_check CHECK ((topic <> ''::text))
feedback feedback_body_check CHECK ((body <> ''::text))
feedback feedback_pkey PRIMARY KEY (tenant_id, id)
feedback feedback_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id)
feedback feedback_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
feedback feedback_tenant_id_stage_run_id_fkey FOREIGN KEY (tenant_id, stage_run_id) REFERENCES stage_runs(tenant_id, id)
holds holds_pkey PRIMARY KEY (tenant_id, call_id, purpose)
holds holds_status_check CHECK ((status = ANY (ARRAY['held'::text, 'posted'::text, 'void'::text, 'expired'::text])))
holds holds_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
holds holds_tenant_id_token_account_id_fkey FOREIGN KEY (tenant_id, token_account_id) REFERENCES accounts(tenant_id, id)
holds holds_tenant_id_usd_account_id_fkey FOREIGN KEY (tenant_id, usd_account_id) REFERENCES accounts(tenant_id, id)
holds holds_tokens_check CHECK ((tokens >= 0))
holds holds_usd_check CHECK ((usd >= 0))
jobs jobs_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['parent_ended'::text, 'session_cancelled'::text])))
jobs jobs_cancel_reason_given CHECK (((status = 'cancelled'::text) = (cancel_reason IS NOT NULL)))
jobs jobs_dependency_policy_check CHECK ((dependency_policy = ANY (ARRAY['all'::text, 'quorum'::text, 'any'::text])))
jobs jobs_job_type_check CHECK ((job_type = ANY (ARRAY['PLAN'::text, 'EXECUTE'::text, 'RENDER'::text])))
jobs jobs_max_attempts_check CHECK ((max_attempts > 0))
jobs jobs_pkey PRIMARY KEY (tenant_id, id)
jobs jobs_quorum_check CHECK ((quorum > 0))
jobs jobs_role_check CHECK ((role = ANY (ARRAY['stage'::text, 'lane'::text, 'step'::text])))
jobs jobs_role_fits CHECK (
CASE role
    WHEN 'stage'::text THEN ((job_type = 'PLAN'::text) AND (stage_run_id IS NOT NULL) AND (lane_id IS NULL) AND (step_key IS NULL))
    WHEN 'lane'::text THEN ((job_type = 'PLAN'::text) AND (stage_run_id IS NOT NULL) AND (lane_id IS NOT NULL) AND (step_key IS NULL))
    ELSE ((lane_id IS NULL) OR (step_key IS NOT NULL))
END)
jobs jobs_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'retrying'::text, 'pending_next_step'::text, 'pending_continuation'::text, 'waiting_for_children'::text, 'waiting_for_lanes'::text, 'waiting_for_prerequisite'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'superseded'::text])))
jobs jobs_tenant_id_stage_run_id_fkey FOREIGN KEY (tenant_id, stage_run_id) REFERENCES stage_runs(tenant_id, id)
lane_steps lane_steps_pkey PRIMARY KEY (tenant_id, stage_run_id, lane_id, step_key)
lane_steps lane_steps_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'completed'::text, 'failed'::text])))
lane_steps lane_steps_tenant_id_stage_run_id_fkey FOREIGN KEY (tenant_id, stage_run_id) REFERENCES stage_runs(tenant_id, id)
lanes lanes_model_check CHECK ((model <> ''::text))
lanes lanes_ordinal_check CHECK ((ordinal > 0))
lanes lanes_pkey PRIMARY KEY (tenant_id, id)
lanes lanes_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
lanes lanes_tenant_id_session_id_ordinal_key UNIQUE (tenant_id, session_id, ordinal)
memory_chunks memory_chunks_pkey PRIMARY KEY (tenant_id, item, place)
memory_chunks memory_chunks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
memory_chunks memory_chunks_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id) ON DELETE CASCADE
memory_items memory_items_pkey PRIMARY KEY (tenant_id, session_id, item)
memory_items memory_items_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id) ON DELETE CASCADE
memory_shortened memory_shortened_pkey PRIMARY KEY (tenant_id, key)
memory_shortened memory_shortened_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
memory_shortened memory_shortened_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id) ON DELETE CASCADE
memory_vectors memory_vectors_check CHECK ((cardinality(vector) = dimensions))
memory_vectors memory_vectors_pkey PRIMARY KEY (tenant_id, digest, model)
memory_vectors memory_vectors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
memory_vectors memory_vectors_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id) ON DELETE CASCADE
model_calls model_calls_counted_tokens_check CHECK ((counted_tokens >= 0))
model_calls model_calls_origin_check CHECK ((origin = ANY (ARRAY['model'::text, 'recording'::text, 'offline'::text])))
model_calls model_calls_pkey PRIMARY KEY (tenant_id, id)
model_calls model_calls_purpose_check CHECK ((purpose = ANY (ARRAY['document'::text, 'continuation'::text, 'repair'::text, 'compression'::text, 'embedding'::text])))
model_calls model_calls_recorded_cost_check CHECK (((recorded_cost_micros IS NULL) OR (origin = 'recording'::text)))
model_calls model_calls_recorded_cost_micros_check CHECK ((recorded_cost_micros >= 0))
model_calls model_calls_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'received'::text, 'failed'::text, 'cut'::text])))
model_calls model_calls_tenant_id_begins_with_fkey FOREIGN KEY (tenant_id, begins_with) REFERENCES model_calls(tenant_id, id)
model_calls model_calls_tenant_id_contribution_id_fkey FOREIGN KEY (tenant_id, contribution_id) REFERENCES contributions(tenant_id, id)
model_calls model_calls_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, id)
model_calls model_calls_tenant_id_request_hash_fkey FOREIGN KEY (tenant_id, request_hash) REFERENCES blobs(tenant_id, hash)
model_calls model_calls_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
notices notices_message_check CHECK ((message <> ''::text))
notices notices_pkey PRIMARY KEY (tenant_id, id)
notices notices_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'error'::text])))
notices notices_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
performance performance_pkey PRIMARY KEY (tenant_id)
performance performance_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
postings postings_key_check CHECK ((key <> ''::text))
postings postings_kind_check CHECK ((kind = ANY (ARRAY['grant'::text, 'opening'::text, 'call'::text, 'refund'::text])))
postings postings_pkey PRIMARY KEY (tenant_id, id)
postings postings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
postings postings_tenant_id_key_key UNIQUE (tenant_id, key)
postings postings_tenant_id_refunds_fkey FOREIGN KEY (tenant_id, refunds) REFERENCES postings(tenant_id, id)
projects projects_name_check CHECK ((name <> ''::text))
projects projects_pkey PRIMARY KEY (tenant_id, id)
projects projects_tenant_id_brief_hash_fkey FOREIGN KEY (tenant_id, brief_hash) REFERENCES blobs(tenant_id, hash)
projects projects_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
recipe_stages recipe_stages_pkey PRIMARY KEY (tenant_id, hash)
recipe_stages recipe_stages_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
recipe_versions recipe_versions_pkey PRIMARY KEY (tenant_id, hash)
recipe_versions recipe_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
resources resources_kind_check CHECK ((kind <> ''::text))
resources resources_pkey PRIMARY KEY (tenant_id, id)
resources resources_tenant_id_blob_hash_fkey FOREIGN KEY (tenant_id, blob_hash) REFERENCES blobs(tenant_id, hash)
resources resources_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id)
schema_migrations schema_migrations_pkey PRIMARY KEY (version)
sessions sessions_awaiting_check CHECK ((awaiting = ANY (ARRAY['review'::text, 'until'::text])))
sessions sessions_chosen_by_check CHECK ((chosen_by = ANY (ARRAY['ballots'::text, 'person'::text, 'default'::text])))
sessions sessions_gates_check CHECK ((gates <@ ARRAY['user'::text, 'funds'::text, 'budget'::text, 'approval'::text, 'storage'::text]))
sessions sessions_max_running_check CHECK ((max_running > 0))
sessions sessions_pkey PRIMARY KEY (tenant_id, id)
sessions sessions_say_what_they_await CHECK (((status <> 'awaiting_review'::text) OR (awaiting IS NOT NULL)))
sessions sessions_session_date_check CHECK ((session_date ~ '^\d{4}-\d{2}-\d{2}$'::text))
sessions sessions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'running'::text, 'awaiting_review'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
sessions sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
sessions sessions_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id)
sessions sessions_tenant_id_recipe_hash_fkey FOREIGN KEY (tenant_id, recipe_hash) REFERENCES recipe_versions(tenant_id, hash)
source_copies source_copies_check CHECK ((bytes_hash = sha256))
source_copies source_copies_pkey PRIMARY KEY (tenant_id, project_id, source, sha256)
source_copies source_copies_size_check CHECK ((size >= 0))
source_copies source_copies_tenant_id_bytes_hash_fkey FOREIGN KEY (tenant_id, bytes_hash) REFERENCES archived_bytes(tenant_id, hash)
source_copies source_copies_tenant_id_project_id_source_fkey FOREIGN KEY (tenant_id, project_id, source) REFERENCES sources(tenant_id, project_id, ordinal) ON DELETE CASCADE
source_excerpts source_excerpts_ordinal_check CHECK ((ordinal > 0))
source_excerpts source_excerpts_pkey PRIMARY KEY (tenant_id, project_id, source, ordinal)
source_excerpts source_excerpts_tenant_id_blob_hash_fkey FOREIGN KEY (tenant_id, blob_hash) REFERENCES blobs(tenant_id, hash)
source_excerpts source_excerpts_tenant_id_project_id_source_fkey FOREIGN KEY (tenant_id, project_id, source) REFERENCES sources(tenant_id, project_id, ordinal) ON DELETE CASCADE
source_uses source_uses_kind_check CHECK ((kind = ANY (ARRAY['finding'::text, 'cluster'::text, 'contradiction'::text, 'section'::text])))
source_uses source_uses_ordinal_check CHECK ((ordinal > 0))
source_uses source_uses_pkey PRIMARY KEY (tenant_id, document_id, ordinal)
source_uses source_uses_tenant_id_document_id_fkey FOREIGN KEY (tenant_id, document_id) REFERENCES documents(tenant_id, id) ON DELETE CASCADE
source_uses source_uses_tenant_id_project_id_source_fkey FOREIGN KEY (tenant_id, project_id, source) REFERENCES sources(tenant_id, project_id, ordinal) ON DELETE CASCADE
sources sources_check CHECK ((alias_of <> ordinal))
sources sources_check_state_check CHECK ((check_state = ANY (ARRAY['unchanged'::text, 'changed'::text, 'moved'::text, 'gone'::text, 'unchecked'::text])))
sources sources_checked_whole CHECK (((checked_at IS NULL) = (check_state IS NULL)))
sources sources_ordinal_check CHECK ((ordinal > 0))
sources sources_pkey PRIMARY KEY (tenant_id, project_id, ordinal)
sources sources_tenant_id_project_id_alias_of_fkey FOREIGN KEY (tenant_id, project_id, alias_of) REFERENCES sources(tenant_id, project_id, ordinal) ON DELETE CASCADE
sources sources_tenant_id_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects(tenant_id, id) ON DELETE CASCADE
sources sources_tenant_id_project_id_key_key UNIQUE (tenant_id, project_id, key)
stage_runs stage_runs_pkey PRIMARY KEY (tenant_id, id)
stage_runs stage_runs_state_check CHECK ((state = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
stage_runs stage_runs_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, id)
stage_runs stage_runs_tenant_id_session_id_iteration_stage_key_key UNIQUE (tenant_id, session_id, iteration, stage_key)
store_epoch store_epoch_only_row_check CHECK (only_row)
store_epoch store_epoch_pkey PRIMARY KEY (only_row)
store_identity store_identity_id_check CHECK ((id ~ '^[0-9a-f]{12}$'::text))
store_identity store_identity_only_row_check CHECK (only_row)
store_identity store_identity_pkey PRIMARY KEY (only_row)
tenants tenants_name_check CHECK ((name <> ''::text))
tenants tenants_pkey PRIMARY KEY (tenant_id)
users users_email_check CHECK ((email <> ''::text))
users users_pkey PRIMARY KEY (tenant_id, id)
users users_tenant_id_email_key UNIQUE (tenant_id, email)
users users_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)

-- indexes
CREATE UNIQUE INDEX accounts_pkey ON public.accounts USING btree (tenant_id, id)
CREATE UNIQUE INDEX accounts_tenant_id_id_currency_key ON public.accounts USING btree (tenant_id, id, currency)
CREATE UNIQUE INDEX accounts_tenant_id_kind_owner_currency_key ON public.accounts USING btree (tenant_id, kind, owner, currency)
CREATE UNIQUE INDEX api_tokens_pkey ON public.api_tokens USING btree (tenant_id, id)
CREATE UNIQUE INDEX api_tokens_token_hash_key ON public.api_tokens USING btree (token_hash)
CREATE INDEX api_tokens_user ON public.api_tokens USING btree (tenant_id, user_id)
CREATE UNIQUE INDEX archived_bytes_pkey ON public.archived_bytes USING btree (tenant_id, hash)
CREATE UNIQUE INDEX blobs_pkey ON public.blobs USING btree (tenant_id, hash)
CREATE UNIQUE INDEX budgets_pkey ON public.budgets USING btree (tenant_id, scope, owner_id, currency)
CREATE INDEX call_parts_of_blob ON public.call_parts USING btree (tenant_id, blob_hash)
CREATE UNIQUE INDEX call_parts_pkey ON public.call_parts USING btree (tenant_id, call_id, ordinal)
CREATE UNIQUE INDEX call_pieces_pkey ON public.call_pieces USING btree (tenant_id, call_id, seq)
CREATE UNIQUE INDEX concurrency_limits_pkey ON public.concurrency_limits USING btree (tenant_id, key)
CREATE INDEX contributions_of_blob ON public.contributions USING btree (tenant_id, blob_hash)
CREATE INDEX contributions_of_job ON public.contributions USING btree (tenant_id, job_id)
CREATE UNIQUE INDEX contributions_pkey ON public.contributions USING btree (tenant_id, id)
CREATE UNIQUE INDEX contributions_tenant_id_chain_id_ordinal_key ON public.contributions USING btree (tenant_id, chain_id, ordinal)
CREATE INDEX documents_current ON public.documents USING btree (tenant_id, session_id) WHERE (NOT superseded)
CREATE INDEX documents_of_body ON public.documents USING btree (tenant_id, body_hash)
CREATE INDEX documents_of_contribution ON public.documents USING btree (tenant_id, contribution_id)
CREATE INDEX documents_of_job ON public.documents USING btree (tenant_id, job_id)
CREATE INDEX documents_of_page ON public.documents USING btree (tenant_id, markdown_hash)
CREATE UNIQUE INDEX documents_pkey ON public.documents USING btree (tenant_id, id)
CREATE UNIQUE INDEX documents_tenant_id_session_id_identity_version_key ON public.documents USING btree (tenant_id, session_id, identity, version)
CREATE INDEX entries_of_posting ON public.entries USING btree (tenant_id, posting_id)
CREATE UNIQUE INDEX entries_pkey ON public.entries USING btree (tenant_id, account_id, seq)
CREATE UNIQUE INDEX events_pkey ON public.events USING btree (tenant_id, tx, id)
CREATE INDEX events_topic ON public.events USING btree (tenant_id, topic, tx, id)
CREATE INDEX feedback_of_session ON public.feedback USING btree (tenant_id, session_id)
CREATE UNIQUE INDEX feedback_pkey ON public.feedback USING btree (tenant_id, id)
CREATE INDEX feedback_waiting ON public.feedback USING btree (tenant_id, session_id) WHERE (stage_run_id IS NULL)
CREATE INDEX holds_open ON public.holds USING btree (tenant_id, session_id) WHERE (status = 'held'::text)
CREATE UNIQUE INDEX holds_pkey ON public.holds USING btree (tenant_id, call_id, purpose)
CREATE INDEX jobs_at_barrier ON public.jobs USING btree (stage_run_id) WHERE (status = 'waiting_for_lanes'::text)
CREATE INDEX jobs_children ON public.jobs USING btree (parent_job_id, status) WHERE (counts AND (parent_job_id IS NOT NULL))
CREATE INDEX jobs_due ON public.jobs USING btree (session_id, run_after, seq) WHERE (status = ANY (ARRAY['pending'::text, 'retrying'::text, 'pending_next_step'::text, 'pending_continuation'::text]))
CREATE INDEX jobs_lane_roots ON public.jobs USING btree (stage_run_id) WHERE (role = 'lane'::text)
CREATE INDEX jobs_links ON public.jobs USING btree (chain_id) WHERE (chain_id <> id)
CREATE INDEX jobs_of_session ON public.jobs USING btree (session_id, seq)
CREATE UNIQUE INDEX jobs_once ON public.jobs USING btree (tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
CREATE UNIQUE INDEX jobs_pkey ON public.jobs USING btree (tenant_id, id)
CREATE INDEX jobs_running ON public.jobs USING btree (session_id, worker_id) WHERE (status = 'processing'::text)
CREATE INDEX jobs_running_by_key ON public.jobs USING btree (concurrency_key) WHERE ((status = 'processing'::text) AND (concurrency_key IS NOT NULL))
CREATE INDEX jobs_waiting ON public.jobs USING btree (prerequisite_job_id) WHERE (status = 'waiting_for_prerequisite'::text)
CREATE UNIQUE INDEX lane_steps_pkey ON public.lane_steps USING btree (tenant_id, stage_run_id, lane_id, step_key)
CREATE UNIQUE INDEX lanes_pkey ON public.lanes USING btree (tenant_id, id)
CREATE UNIQUE INDEX lanes_tenant_id_session_id_ordinal_key ON public.lanes USING btree (tenant_id, session_id, ordinal)
CREATE INDEX memory_chunks_by_words ON public.memory_chunks USING gin (words)
CREATE INDEX memory_chunks_of_digest ON public.memory_chunks USING btree (tenant_id, digest)
CREATE INDEX memory_chunks_of_project ON public.memory_chunks USING btree (tenant_id, project_id)
CREATE UNIQUE INDEX memory_chunks_pkey ON public.memory_chunks USING btree (tenant_id, item, place)
CREATE UNIQUE INDEX memory_items_pkey ON public.memory_items USING btree (tenant_id, session_id, item)
CREATE INDEX memory_shortened_of_project ON public.memory_shortened USING btree (tenant_id, project_id)
CREATE UNIQUE INDEX memory_shortened_pkey ON public.memory_shortened USING btree (tenant_id, key)
CREATE INDEX memory_vectors_of_project ON public.memory_vectors USING btree (tenant_id, project_id)
CREATE UNIQUE INDEX memory_vectors_pkey ON public.memory_vectors USING btree (tenant_id, digest, model)
CREATE INDEX model_calls_beginning_with ON public.model_calls USING btree (tenant_id, begins_with) WHERE (begins_with IS NOT NULL)
CREATE INDEX model_calls_of_contribution ON public.model_calls USING btree (tenant_id, contribution_id)
CREATE INDEX model_calls_of_job ON public.model_calls USING btree (tenant_id, job_id)
CREATE INDEX model_calls_of_request ON public.model_calls USING btree (tenant_id, request_hash)
CREATE INDEX model_calls_of_session ON public.model_calls USING btree (tenant_id, session_id)
CREATE UNIQUE INDEX model_calls_pkey ON public.model_calls USING btree (tenant_id, id)
CREATE INDEX notices_open ON public.notices USING btree (tenant_id, created_at) WHERE (dismissed_at IS NULL)
CREATE UNIQUE INDEX notices_pkey ON public.notices USING btree (tenant_id, id)
CREATE UNIQUE INDEX performance_pkey ON public.performance USING btree (tenant_id)
CREATE INDEX postings_of_session ON public.postings USING btree (tenant_id, session_id) WHERE (session_id IS NOT NULL)
CREATE UNIQUE INDEX postings_pkey ON public.postings USING btree (tenant_id, id)
CREATE INDEX postings_refunded ON public.postings USING btree (tenant_id, refunds) WHERE (refunds IS NOT NULL)
CREATE UNIQUE INDEX postings_tenant_id_key_key ON public.postings USING btree (tenant_id, key)
CREATE INDEX projects_by_name ON public.projects USING btree (tenant_id, name)
CREATE UNIQUE INDEX projects_pkey ON public.projects USING btree (tenant_id, id)
CREATE UNIQUE INDEX recipe_stages_pkey ON public.recipe_stages USING btree (tenant_id, hash)
CREATE UNIQUE INDEX recipe_versions_pkey ON public.recipe_versions USING btree (tenant_id, hash)
CREATE INDEX resources_of_project ON public.resources USING btree (tenant_id, project_id)
CREATE UNIQUE INDEX resources_pkey ON public.resources USING btree (tenant_id, id)
CREATE UNIQUE INDEX schema_migrations_pkey ON public.schema_migrations USING btree (version)
CREATE INDEX sessions_of_project ON public.sessions USING btree (tenant_id, project_id)
CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (tenant_id, id)
CREATE INDEX sessions_running ON public.sessions USING btree (id) WHERE ((status = 'running'::text) AND (gates = '{}'::text[]))
CREATE INDEX source_copies_of_bytes ON public.source_copies USING btree (tenant_id, bytes_hash)
CREATE UNIQUE INDEX source_copies_pkey ON public.source_copies USING btree (tenant_id, project_id, source, sha256)
CREATE INDEX source_excerpts_of_blob ON public.source_excerpts USING btree (tenant_id, blob_hash)
CREATE UNIQUE INDEX source_excerpts_pkey ON public.source_excerpts USING btree (tenant_id, project_id, source, ordinal)
CREATE INDEX source_uses_of_source ON public.source_uses USING btree (tenant_id, project_id, source)
CREATE UNIQUE INDEX source_uses_pkey ON public.source_uses USING btree (tenant_id, document_id, ordinal)
CREATE UNIQUE INDEX sources_pkey ON public.sources USING btree (tenant_id, project_id, ordinal)
CREATE UNIQUE INDEX sources_tenant_id_project_id_key_key ON public.sources USING btree (tenant_id, project_id, key)
CREATE UNIQUE INDEX stage_runs_pkey ON public.stage_runs USING btree (tenant_id, id)
CREATE UNIQUE INDEX stage_runs_tenant_id_session_id_iteration_stage_key_key ON public.stage_runs USING btree (tenant_id, session_id, iteration, stage_key)
CREATE UNIQUE INDEX store_epoch_pkey ON public.store_epoch USING btree (only_row)
CREATE UNIQUE INDEX store_identity_pkey ON public.store_identity USING btree (only_row)
CREATE UNIQUE INDEX tenants_pkey ON public.tenants USING btree (tenant_id)
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (tenant_id, id)
CREATE UNIQUE INDEX users_tenant_id_email_key ON public.users USING btree (tenant_id, email)

-- row-level security
accounts enabled=t forced=t
api_tokens enabled=t forced=t
archived_bytes enabled=t forced=t
blobs enabled=t forced=t
budgets enabled=t forced=t
call_parts enabled=t forced=t
call_pieces enabled=t forced=t
concurrency_limits enabled=t forced=t
contributions enabled=t forced=t
documents enabled=t forced=t
entries enabled=t forced=t
events enabled=t forced=t
feedback enabled=t forced=t
holds enabled=t forced=t
jobs enabled=t forced=t
lane_steps enabled=t forced=t
lanes enabled=t forced=t
memory_chunks enabled=t forced=t
memory_items enabled=t forced=t
memory_shortened enabled=t forced=t
memory_vectors enabled=t forced=t
model_calls enabled=t forced=t
notices enabled=t forced=t
performance enabled=t forced=t
postings enabled=t forced=t
projects enabled=t forced=t
recipe_stages enabled=t forced=t
recipe_versions enabled=t forced=t
resources enabled=t forced=t
schema_migrations enabled=f forced=f
sessions enabled=t forced=t
source_copies enabled=t forced=t
source_excerpts enabled=t forced=t
source_uses enabled=t forced=t
sources enabled=t forced=t
stage_runs enabled=t forced=t
store_epoch enabled=f forced=f
store_identity enabled=f forced=f
tenants enabled=t forced=t
users enabled=t forced=t

-- policies
accounts ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
accounts tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
api_tokens auth_all ALL to {dialectic_auth} using (true) check (true)
api_tokens tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
archived_bytes ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
archived_bytes tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
blobs ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
blobs tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
budgets ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
budgets tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
call_parts ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
call_parts tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
call_pieces ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
call_pieces tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
concurrency_limits tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
concurrency_limits worker_all ALL to {dialectic_worker} using (true) check (true)
contributions ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
contributions tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
documents ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
documents tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
entries ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
entries tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
events ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
events tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
events worker_all ALL to {dialectic_worker} using (true) check (true)
feedback ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
feedback tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
holds ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
holds tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
jobs ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
jobs tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
jobs worker_all ALL to {dialectic_worker} using (true) check (true)
lane_steps ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
lane_steps tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
lane_steps worker_all ALL to {dialectic_worker} using (true) check (true)
lanes ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
lanes tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
lanes worker_all ALL to {dialectic_worker} using (true) check (true)
memory_chunks tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
memory_items tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
memory_shortened tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
memory_vectors tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
model_calls ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
model_calls tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
notices ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
notices tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
notices worker_all ALL to {dialectic_worker} using (true) check (true)
performance tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
postings ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
postings tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
projects ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
projects tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
recipe_stages ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
recipe_stages tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
recipe_versions ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
recipe_versions tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
resources ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
resources tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
sessions ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
sessions tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
sessions worker_all ALL to {dialectic_worker} using (true) check (true)
source_copies ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
source_copies tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
source_excerpts ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
source_excerpts tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
source_uses tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
sources tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
stage_runs ledger_of_tenant ALL to {dialectic_ledger} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
stage_runs tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
stage_runs worker_all ALL to {dialectic_worker} using (true) check (true)
tenants auth_all ALL to {dialectic_auth} using (true) check (true)
tenants tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))
users auth_all ALL to {dialectic_auth} using (true) check (true)
users tenant_only ALL to {dialectic_app} using ((tenant_id = ( SELECT current_tenant() AS current_tenant))) check ((tenant_id = ( SELECT current_tenant() AS current_tenant)))

-- grants
accounts dialectic_app SELECT
accounts dialectic_ledger INSERT, SELECT, UPDATE
api_tokens dialectic_app DELETE, INSERT, SELECT, UPDATE
api_tokens dialectic_auth SELECT
archived_bytes dialectic_app INSERT, SELECT
archived_bytes dialectic_ledger DELETE, SELECT
blobs dialectic_app INSERT, SELECT
blobs dialectic_ledger DELETE, SELECT
budgets dialectic_app SELECT
budgets dialectic_ledger DELETE, INSERT, SELECT, UPDATE
call_parts dialectic_app INSERT, SELECT
call_parts dialectic_ledger DELETE, SELECT
call_pieces dialectic_app DELETE, INSERT, SELECT
call_pieces dialectic_ledger DELETE, SELECT
concurrency_limits dialectic_app DELETE, INSERT, SELECT, UPDATE
concurrency_limits dialectic_worker DELETE, INSERT, SELECT, UPDATE
contributions dialectic_app INSERT, SELECT
contributions dialectic_ledger DELETE, SELECT
documents dialectic_app INSERT, SELECT, UPDATE
documents dialectic_ledger DELETE, SELECT
entries dialectic_app SELECT
entries dialectic_ledger INSERT, SELECT
events dialectic_app SELECT
events dialectic_ledger DELETE, INSERT, SELECT
events dialectic_worker SELECT
feedback dialectic_app INSERT, SELECT
feedback dialectic_ledger DELETE, SELECT
holds dialectic_app SELECT
holds dialectic_ledger INSERT, SELECT, UPDATE
jobs dialectic_app INSERT, SELECT, UPDATE
jobs dialectic_ledger DELETE, SELECT, UPDATE
jobs dialectic_worker INSERT, SELECT, UPDATE
lane_steps dialectic_app DELETE, INSERT, SELECT, UPDATE
lane_steps dialectic_ledger DELETE, SELECT
lane_steps dialectic_worker INSERT, SELECT, UPDATE
lanes dialectic_app INSERT, SELECT
lanes dialectic_ledger DELETE, SELECT
lanes dialectic_worker SELECT
memory_chunks dialectic_app INSERT, SELECT, UPDATE
memory_items dialectic_app INSERT, SELECT
memory_shortened dialectic_app INSERT, SELECT, UPDATE
memory_vectors dialectic_app INSERT, SELECT, UPDATE
model_calls dialectic_app INSERT, SELECT, UPDATE
model_calls dialectic_ledger DELETE, SELECT, UPDATE
notices dialectic_app INSERT, SELECT, UPDATE
notices dialectic_ledger DELETE, SELECT
notices dialectic_worker INSERT
performance dialectic_app INSERT, SELECT, UPDATE
postings dialectic_app SELECT
postings dialectic_ledger INSERT, SELECT
projects dialectic_app INSERT, SELECT, UPDATE
projects dialectic_ledger DELETE, SELECT, UPDATE
recipe_stages dialectic_app INSERT, SELECT
recipe_stages dialectic_ledger DELETE, SELECT
recipe_versions dialectic_app INSERT, SELECT
recipe_versions dialectic_ledger DELETE, SELECT
resources dialectic_app DELETE, INSERT, SELECT
resources dialectic_ledger DELETE, SELECT
sessions dialectic_app INSERT, SELECT, UPDATE
sessions dialectic_ledger DELETE, SELECT, UPDATE
sessions dialectic_worker SELECT, UPDATE
source_copies dialectic_app INSERT, SELECT
source_copies dialectic_ledger SELECT
source_excerpts dialectic_app INSERT, SELECT
source_excerpts dialectic_ledger SELECT
source_uses dialectic_app INSERT, SELECT
sources dialectic_app INSERT, SELECT, UPDATE
stage_runs dialectic_app INSERT, SELECT, UPDATE
stage_runs dialectic_ledger DELETE, SELECT
stage_runs dialectic_worker SELECT, UPDATE
store_epoch dialectic_app SELECT
store_epoch dialectic_worker SELECT
tenants dialectic_app SELECT
tenants dialectic_auth INSERT, SELECT
users dialectic_app DELETE, INSERT, SELECT, UPDATE
users dialectic_auth INSERT, SELECT

-- grants of single columns
events.tenant_id {dialectic_app=a/postgres,dialectic_worker=a/postgres}
events.topic {dialectic_app=a/postgres,dialectic_worker=a/postgres}
events.kind {dialectic_app=a/postgres,dialectic_worker=a/postgres}
events.payload {dialectic_app=a/postgres,dialectic_worker=a/postgres}
feedback.stage_run_id {dialectic_app=w/postgres}

-- triggers
CREATE TRIGGER accounts_follow BEFORE UPDATE ON public.accounts FOR EACH ROW WHEN (((pg_trigger_depth() = 0) AND ((old.balance <> new.balance) OR (old.entry_count <> new.entry_count)))) EXECUTE FUNCTION refuse_ledger_change()
CREATE TRIGGER call_pieces_creation_events AFTER INSERT ON public.call_pieces FOR EACH ROW EXECUTE FUNCTION tell_text()
CREATE TRIGGER contributions_creation_events AFTER INSERT ON public.contributions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_contributions()
CREATE TRIGGER documents_change_events AFTER UPDATE ON public.documents REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_documents()
CREATE TRIGGER documents_creation_events AFTER INSERT ON public.documents REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_documents()
CREATE TRIGGER entries_follow AFTER INSERT ON public.entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION follow_entries()
CREATE TRIGGER entries_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()
CREATE TRIGGER events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()
CREATE TRIGGER events_notify AFTER INSERT ON public.events FOR EACH STATEMENT EXECUTE FUNCTION notify_events()
CREATE TRIGGER jobs_cancelled BEFORE UPDATE OF status ON public.jobs FOR EACH ROW WHEN (((old.status = 'cancelled'::text) OR (new.status = 'cancelled'::text))) EXECUTE FUNCTION refuse_cancelled()
CREATE TRIGGER jobs_change_events AFTER UPDATE ON public.jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((CURRENT_USER = 'dialectic_worker'::name)) EXECUTE FUNCTION tell_job_changes()
CREATE TRIGGER jobs_change_events_of_tenant AFTER UPDATE ON public.jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((CURRENT_USER <> 'dialectic_worker'::name)) EXECUTE FUNCTION tell_job_changes()
CREATE TRIGGER jobs_completion AFTER UPDATE ON public.jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((CURRENT_USER = 'dialectic_worker'::name)) EXECUTE FUNCTION handle_job_completion()
CREATE TRIGGER jobs_completion_of_tenant AFTER UPDATE ON public.jobs REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((CURRENT_USER <> 'dialectic_worker'::name)) EXECUTE FUNCTION handle_job_completion()
CREATE TRIGGER jobs_creation_events AFTER INSERT ON public.jobs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_new_jobs()
CREATE TRIGGER jobs_fail_session AFTER UPDATE OF status ON public.jobs FOR EACH ROW WHEN (((new.status = 'failed'::text) AND (old.status <> 'failed'::text) AND (new.role = 'stage'::text))) EXECUTE FUNCTION fail_session()
CREATE TRIGGER jobs_failure_notices AFTER UPDATE OF status ON public.jobs FOR EACH ROW WHEN (((new.status = 'failed'::text) AND (old.status <> 'failed'::text) AND COALESCE(((new.error ->> 'code'::text) <> ALL (ARRAY['child_failed'::text, 'prerequisite_failed'::text, 'quorum_missed'::text])), true))) EXECUTE FUNCTION add_failure_notice()
CREATE TRIGGER jobs_insertion AFTER INSERT ON public.jobs REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION handle_job_insertion()
CREATE TRIGGER lane_steps_change_events AFTER UPDATE OF state ON public.lane_steps FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION tell_step()
CREATE TRIGGER lane_steps_creation_events AFTER INSERT ON public.lane_steps FOR EACH ROW WHEN ((new.state <> 'waiting'::text)) EXECUTE FUNCTION tell_step()
CREATE TRIGGER model_calls_change_events AFTER UPDATE ON public.model_calls REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tell_call_ends()
CREATE TRIGGER postings_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON public.postings FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()
CREATE TRIGGER sessions_change_events AFTER UPDATE OF status, gates ON public.sessions FOR EACH ROW WHEN (((old.status <> new.status) OR (old.gates <> new.gates))) EXECUTE FUNCTION tell_session_change()
CREATE TRIGGER sessions_creation_events AFTER INSERT ON public.sessions FOR EACH ROW EXECUTE FUNCTION tell_session_change()
CREATE TRIGGER sessions_of_jobs AFTER DELETE ON public.sessions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_deletion_of_busy_sessions()
CREATE TRIGGER sessions_pause_notices AFTER UPDATE OF gates ON public.sessions FOR EACH ROW WHEN ((old.gates <> new.gates)) EXECUTE FUNCTION add_pause_notice()
CREATE TRIGGER stage_runs_change_events AFTER UPDATE OF state ON public.stage_runs FOR EACH ROW WHEN ((old.state <> new.state)) EXECUTE FUNCTION tell_stage()
CREATE TRIGGER stage_runs_creation_events AFTER INSERT ON public.stage_runs FOR EACH ROW EXECUTE FUNCTION tell_stage()

-- who may call functions, beside their owner
add_failure_notice()
add_pause_notice()
add_to_budgets(uuid,uuid,bigint,bigint,bigint,bigint) dialectic_ledger
app_now() dialectic_app, dialectic_auth, dialectic_ledger, dialectic_worker
begin_with_last(uuid,uuid,jsonb) dialectic_app
book(uuid,bigint[],uuid[],bigint[]) dialectic_ledger
budgets_of(uuid,uuid) dialectic_ledger
cancel_children(job_end[]) dialectic_app, dialectic_worker
cancel_jobs(uuid,uuid) dialectic_app
charge(uuid,holds[],bigint[],bigint[],bigint[]) dialectic_ledger
check_amounts(text,bigint[]) dialectic_ledger
children_by_step(uuid,uuid) dialectic_app, dialectic_worker
claim_jobs(uuid,integer,interval,uuid,uuid) dialectic_worker
claim_limited(uuid,uuid,uuid,integer,interval) dialectic_app, dialectic_worker
claim_next(uuid[],integer[],uuid[],interval[]) dialectic_app
close_hold(uuid,uuid,text,text) dialectic_app
complete_held_jobs(uuid[],uuid[]) dialectic_app
complete_jobs(uuid[],uuid[],uuid[]) dialectic_worker
current_tenant() dialectic_app, dialectic_ledger, dialectic_worker
delete_unused_bytes(uuid,text[]) dialectic_ledger
delete_unused_recipes(uuid,text[]) dialectic_ledger
delete_unused_texts(uuid,text[]) dialectic_ledger
describe_jobs(uuid,uuid) dialectic_app, dialectic_ledger, dialectic_worker
erase_project(uuid,uuid) dialectic_app
event_horizon() dialectic_app
extend_leases(uuid,uuid[],interval) dialectic_worker
fail_parents(job_end[]) dialectic_app, dialectic_worker
fail_session()
find_due(uuid[],uuid[],integer,integer,tid[]) dialectic_app, dialectic_worker
find_due_by_key(uuid,uuid,integer) dialectic_app, dialectic_worker
follow_entries()
grant_funds(uuid,text,uuid,text,bigint,jsonb) dialectic_app
handle_job_completion()
handle_job_insertion()
hold_funds(uuid,uuid,text,uuid,text,bigint,bigint,bigint,bigint,boolean,jsonb) dialectic_app
hold_leases(uuid[],uuid[]) dialectic_app
hold_unlimited(uuid,uuid[],text[],uuid,text[],bigint[],bigint[],bigint[],bigint[],jsonb[]) dialectic_app
insert_jobs(jsonb) dialectic_app
is_any_moving(uuid,text,uuid,uuid) dialectic_ledger
is_open(text) dialectic_app, dialectic_worker
is_over(text) dialectic_app, dialectic_ledger, dialectic_worker
is_within(uuid,uuid,text,uuid) dialectic_ledger
isolate_table(text,text)
job_event_entry(uuid,uuid,text,text,jsonb,integer,timestamp with time zone) dialectic_app, dialectic_worker
job_event_kind(text,text,boolean) dialectic_app, dialectic_worker
keep_texts() dialectic_app
ledger_owner()
lock_budgets(uuid,uuid) dialectic_ledger
lock_for_erasing(uuid,uuid) dialectic_ledger
lock_hold(uuid,uuid,text) dialectic_app
lock_payers(uuid,uuid) dialectic_ledger
lock_payers_of(uuid,uuid[],text[]) dialectic_ledger
lock_wallets(uuid) dialectic_app
match_chunks(uuid,text[],uuid,text,text[],real[],integer,integer) dialectic_app
match_vectors(uuid,text[],uuid,text,real[],integer) dialectic_app
match_words(uuid,text[],uuid,text[],integer) dialectic_app
may_follow(text,text) dialectic_app, dialectic_worker
move_funds(uuid,text,text,text,uuid,text,bigint,jsonb) dialectic_ledger
note_requests(uuid[],uuid[],jsonb[]) dialectic_app
notify_events()
open_account(uuid,text,text,text,boolean) dialectic_ledger
open_table(text,text,text)
open_to_ledger(text,text)
post_call(uuid,uuid,text,bigint,bigint,boolean,jsonb) dialectic_app, dialectic_ledger
post_calls(uuid,uuid[],text[],bigint[],bigint[],boolean[],jsonb[]) dialectic_app
posted_before(uuid,uuid,text,text) dialectic_ledger
posting_content(bigint,bigint,boolean) dialectic_ledger
refund_call(uuid,text,bigint,bigint,bigint,jsonb) dialectic_app
refuse_cancelled()
refuse_change()
refuse_deletion_of_busy_sessions()
refuse_lease(uuid) dialectic_app
refuse_ledger_change()
refuse_transition(text,text) dialectic_app, dialectic_worker
release_holds(uuid,holds[],bigint[],bigint[]) dialectic_ledger
remove_limit(uuid,text,text,text) dialectic_app
replayed_posting(uuid,text,text) dialectic_ledger
request_parts(uuid) dialectic_app
requeue_abandoned(uuid,boolean,integer) dialectic_worker
require_funds(uuid[],text[],uuid[],text[],bigint[],bigint[],bigint[],bigint[],boolean[],jsonb[]) dialectic_app
require_leases(uuid[],uuid[]) dialectic_app
require_tenant(uuid) dialectic_ledger
set_budget(uuid,text,uuid,text,bigint) dialectic_app
set_spending_share(uuid,double precision) dialectic_app
settle_lanes(job_end[],uuid[],uuid[],boolean,boolean) dialectic_app, dialectic_worker
settle_left_holds(uuid) dialectic_app
settle_stages(uuid[],uuid[]) dialectic_app, dialectic_worker
short_error(jsonb) dialectic_app, dialectic_ledger, dialectic_worker
suspend_held_jobs(uuid[],uuid[],boolean) dialectic_app
take_over(uuid[],integer) dialectic_worker
tell_call_ends()
tell_contributions()
tell_documents()
tell_job_changes()
tell_new_jobs()
tell_session(uuid,uuid,text,jsonb) dialectic_app, dialectic_ledger, dialectic_worker
tell_session_change()
tell_stage()
tell_step()
tell_text()
texts_of(uuid,uuid,uuid[]) dialectic_ledger
waits_for_itself(job_wait[]) dialectic_app, dialectic_worker
wake_parents(uuid[],uuid[]) dialectic_app, dialectic_worker
wake_waiters(job_end[]) dialectic_app, dialectic_worker
wake_with_losses(uuid,uuid) dialectic_app, dialectic_worker
was_sent(jsonb) dialectic_app, dialectic_ledger
weigh_call(uuid,uuid,accounts,accounts,bigint,bigint,boolean) dialectic_ledger

-- functions
CREATE OR REPLACE FUNCTION public.add_failure_notice()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  about jsonb := (select j.about from describe_jobs(new.tenant_id, new.id) as j (about));
  lane text := format('participant %s (%s)', about->>'lane', about->>'model');
begin
  insert into notices (tenant_id, id, severity, code, message, topic, details)
  values (new.tenant_id, gen_random_uuid(), 'error', coalesce(new.error->>'code', 'internal_error'),
    case
      when about->>'stage' is null then format('A %s job%s', new.job_type, ' of step ' || new.step_key)
      when about->>'lane' is null then format('Stage %s', about->>'stage')
      when new.step_key is null then format('Stage %s of %s', about->>'stage', lane)
      else format('Step %s of stage %s of %s', new.step_key, about->>'stage', lane)
    end || ' failed: ' || coalesce(new.error->>'message', 'no reason was recorded'),
    'session/' || new.session_id, jsonb_build_object('jobId', new.id));
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.add_pause_notice()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  gate text;
  scope text;
  project text;
  amount text;
  resume text := 'dialectic resume ' || new.id;
begin
  foreach gate in array new.gates loop
    continue when gate = any (old.gates) or gate not in ('budget', 'funds', 'approval');
    scope := new.shortages->gate->>'scope';
    project := case when scope = 'project' then ' --project ' || new.project_id else '' end;
    amount := case new.shortages->gate->>'currency' when 'token' then 'TOKENS --tokens'
      else 'DOLLARS' end;
    insert into notices (tenant_id, id, severity, code, message, topic, details)
    values (new.tenant_id, gen_random_uuid(), 'warning',
      case gate when 'budget' then 'budget_reached' when 'funds' then 'funds_exhausted'
        else 'approval_needed' end,
      case
        when gate = 'approval' then format('One call would take more than the set share of the '
          'wallet, so the session is paused. Approve it and all later calls with: %s', resume)
        when gate = 'funds' then format('The wallet is short, so the session is paused. Add to it '
          'with: dialectic wallet grant %s%s. Then: %s', amount, project, resume)
        when coalesce(scope, 'session') <> 'session' then format('The budget of the %s is reached, '
          'so the session is paused. Raise it with: dialectic wallet budget %s%s. Then: %s', scope,
          amount, project, resume)
        else format('The budget of the session is reached, so it is paused. Raise it with: %s %s',
          resume, case new.shortages->gate->>'currency' when 'token'
            then '--budget-tokens TOKENS' else '--budget DOLLARS' end)
      end,
      'session/' || new.id, jsonb_build_object('gate', gate));
  end loop;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.add_to_budgets(of_tenant uuid, of_session uuid, held_usd bigint, held_tokens bigint, spent_usd bigint, spent_tokens bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from budgets b where b.tenant_id = of_tenant) then
    update budgets b set
      held = b.held + case b.currency when 'USD' then held_usd else held_tokens end,
      spent = b.spent + case b.currency when 'USD' then spent_usd else spent_tokens end
    from budgets_of(of_tenant, of_session) as mine
    where b.tenant_id = mine.tenant_id and b.scope = mine.scope and b.owner_id = mine.owner_id
      and b.currency = mine.currency;
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.app_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE((NULLIF(current_setting('dialectic.now'::text, true), ''::text))::timestamp with time zone, statement_timestamp())
CREATE OR REPLACE FUNCTION public.begin_with_last(of_call uuid, of_chain uuid, parts jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  last_call uuid;
  begun int;
begin
  -- The first link of a chain has the chain's id; the index of links holds the others alone. Sorted
  -- apart, since a limit makes the planner walk all calls of the tenant from the newest back.
  with sent as materialized (
    select c.id from model_calls c
    where c.tenant_id = current_tenant() and c.id <> of_call and c.purpose <> 'embedding'
      and c.job_id = any (of_chain || array(select j.id from jobs j
        where j.tenant_id = current_tenant() and j.chain_id = of_chain and j.chain_id <> j.id)))
  select id into last_call from sent order by id desc limit 1;
  if not found then
    return 0;
  end if;
  select count(*) into begun from request_parts(last_call)
  having bool_and(role is not distinct from parts -> ordinal ->> 0
    and blob_hash = parts -> ordinal ->> 1);
  if coalesce(begun, 0) > 0 then
    update model_calls c set begins_with = last_call
    where c.tenant_id = current_tenant() and c.id = of_call;
  end if;
  return coalesce(begun, 0);
end
$function$
CREATE OR REPLACE FUNCTION public.book(of_tenant uuid, postings bigint[], account_ids uuid[], amounts bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  with locked as (
    select a.id, a.currency, a.balance, a.entry_count from accounts a
    where a.tenant_id = of_tenant and a.id = any (account_ids)
    order by a.kind desc, a.owner, a.currency = 'token' for update)
  insert into entries (tenant_id, posting_id, account_id, currency, amount, seq, balance)
  select of_tenant, g.posting_id, a.id, a.currency, g.amount,
    a.entry_count + row_number() over so_far, a.balance + sum(g.amount) over so_far
  from unnest(postings, account_ids, amounts) with ordinality
    as g (posting_id, account_id, amount, place)
  join locked a on a.id = g.account_id
  window so_far as (partition by a.id order by g.place) order by g.place;
end
$function$
CREATE OR REPLACE FUNCTION public.budgets_of(of_tenant uuid, of_session uuid)
 RETURNS SETOF budgets
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select b.* from budgets b
  where b.tenant_id = of_tenant and (b.scope, b.owner_id) in (
    ('tenant', of_tenant), ('session', of_session),
    ('project', (select s.project_id from sessions s
      where s.tenant_id = of_tenant and s.id = of_session)))
$function$
CREATE OR REPLACE FUNCTION public.cancel_children(ended job_end[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$
CREATE OR REPLACE FUNCTION public.cancel_jobs(of_tenant uuid, of_session uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
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
$function$
CREATE OR REPLACE FUNCTION public.charge(of_tenant uuid, closed holds[], made bigint[], costs_usd bigint[], costs_tokens bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  posting_ids bigint[];
  account_ids uuid[];
  amounts bigint[];
begin
  with due as (
    select h.ordinality as nth, made[h.ordinality] as posting_id, h.provider, k.*
    from unnest(closed) with ordinality as h
    cross join lateral (values ('USD', h.usd_account_id, h.usd, costs_usd[h.ordinality]),
      ('token', h.token_account_id, h.tokens, costs_tokens[h.ordinality])
    ) as k (currency, payer_id, held, cost)
  ), levels as (
    select d.*, case when not a.unlimited then a.balance - a.held
        - sum(d.held) over (partition by d.payer_id)
        + sum(d.held - d.cost) over (partition by d.payer_id order by d.nth) end as level
    from due d join lateral (select p.* from accounts p
      where p.tenant_id = of_tenant and p.id = d.payer_id limit 1) as a on true
  ), shares as (
    select l.*, coalesce(least(0, min(l.level) over before)
        - least(0, min(l.level) over (partition by l.payer_id order by l.nth)), 0)::bigint as borne
    from levels l window before as (partition by l.payer_id order by l.nth
      rows between unbounded preceding and 1 preceding)
  ), providers as (
    select p.provider, p.currency,
      open_account(of_tenant, 'provider', p.provider, p.currency, true) as id
    from (select d.provider, d.currency from due d where d.cost <> 0
      group by d.provider, d.currency order by d.provider, d.currency = 'token') as p
  )
  select array_agg(s.posting_id order by s.nth, s.currency = 'token', side.place),
    array_agg(side.account_id order by s.nth, s.currency = 'token', side.place),
    array_agg(side.amount order by s.nth, s.currency = 'token', side.place)
  into posting_ids, account_ids, amounts
  from shares s join providers p on p.provider = s.provider and p.currency = s.currency
  cross join lateral (values (1, s.payer_id, s.borne - s.cost), (2, p.id, s.cost),
    (3, case when s.borne > 0 then
      open_account(of_tenant, 'platform', '', s.currency, true) end, -s.borne)
  ) as side (place, account_id, amount)
  where side.amount <> 0;
  perform book(of_tenant, posting_ids, account_ids, amounts);
end
$function$
CREATE OR REPLACE FUNCTION public.check_amounts(what text, VARIADIC amounts bigint[])
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  if 1000000000000000 < any (amounts) then
    raise exception '% is more than 1000000000000000.', what
      using errcode = 'DX000', hint = 'amount_too_large';
  elsif 0 > any (amounts) then
    raise exception '% is less than nothing, which is no amount.', what
      using errcode = 'DX000', hint = 'internal_error';
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.children_by_step(of_tenant uuid, of_parent uuid)
 RETURNS TABLE(step_key text, open integer, succeeded integer, needed integer, lost boolean)
 LANGUAGE sql
 STABLE
AS $function$
  select c.step_key,
    count(*) filter (where not is_over(c.status))::int,
    count(*) filter (where c.status in ('completed', 'superseded'))::int,
    case min(c.dependency_policy)
      when 'any' then 1
      when 'quorum' then coalesce(min(c.quorum), count(*)::int / 2 + 1)
      else count(*)::int
    end,
    coalesce(bool_or(c.status in ('failed', 'cancelled')), false)
  from jobs c
  where c.tenant_id = of_tenant and c.parent_job_id = of_parent and c.counts and not c.continued
  group by c.step_key
$function$
CREATE OR REPLACE FUNCTION public.claim_jobs(for_worker uuid, batch integer, lease interval, only_tenant uuid, only_session uuid)
 RETURNS SETOF jobs
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  remaining int := batch;
  share int;
  got int;
  sessions int;
  free uuid[];
  free_tenants uuid[];
  limited uuid[];
  limited_tenants uuid[];
  limited_first boolean;
  found_places tid[];
  places tid[] := '{}';
begin
  select coalesce(array_agg(d.id) filter (where not d.is_limited), '{}'),
    coalesce(array_agg(d.tenant_id) filter (where not d.is_limited), '{}'),
    coalesce(array_agg(d.id) filter (where d.is_limited), '{}'),
    coalesce(array_agg(d.tenant_id) filter (where d.is_limited), '{}')
  into free, free_tenants, limited, limited_tenants
  from (
    select x.tenant_id, x.id, x.max_running is not null or exists (
      select from concurrency_limits l where l.tenant_id = x.tenant_id) as is_limited
    from sessions x
    cross join lateral (
      select from jobs j where j.session_id = x.id and j.tenant_id = x.tenant_id
        and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
      order by j.run_after, j.seq limit 1) as due
    where x.status = 'running' and x.gates = '{}'
      and (only_session is null or (x.tenant_id = only_tenant and x.id = only_session))
      and (x.max_running is null or x.max_running > (select count(*) from jobs j
        where j.session_id = x.id and j.tenant_id = x.tenant_id and j.status = 'processing'))
    order by random() limit greatest(batch, 50)
  ) as d;

  sessions := cardinality(free) + cardinality(limited);
  share := (batch + sessions - 1) / greatest(1, sessions);
  -- Shares are rounded up, so the last session may find nothing left: the order is drawn by lot, too.
  limited_first := random() < 0.5;
  for turn in 1..4 loop
    exit when remaining <= 0 or sessions = 0;
    if limited_first = (turn % 2 = 1) then
      for at in 1..cardinality(limited) loop
        exit when remaining <= 0;
        return query select * from claim_limited(
          for_worker, limited_tenants[at], limited[at], least(share, remaining), lease);
        get diagnostics got = row_count;
        remaining := remaining - got;
      end loop;
    elsif cardinality(free) > 0 then
      found_places := find_due(free_tenants, free, share, remaining, places);
      places := places || found_places;
      remaining := remaining - cardinality(found_places);
      -- Where all of them together gave less than one share, none has more to give.
      if cardinality(found_places) < share and cardinality(limited) = 0 then
        exit;
      end if;
    end if;
    exit when turn = 2 and sessions = 1;
    if turn = 2 then
      share := remaining;
    end if;
  end loop;
  -- One update for both passes, and none for nothing: every update of jobs fires their triggers.
  if cardinality(places) > 0 then
    return query
      update jobs j set status = 'processing', worker_id = for_worker,
        lease_token = gen_random_uuid(), lease_until = app_now() + lease,
        started_at = coalesce(j.started_at, app_now())
      where j.ctid = any (places)
      returning j.*;
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.claim_limited(for_worker uuid, of_tenant uuid, of_session uuid, room integer, lease interval)
 RETURNS SETOF jobs
 LANGUAGE plpgsql
AS $function$
declare
  allowed int;
  places tid[];
begin
  select x.max_running into allowed from sessions x where x.tenant_id = of_tenant
    and x.id = of_session and x.status = 'running' and x.gates = '{}';
  if not found then
    return;
  end if;
  if allowed is not null then
    perform 1 from sessions x where x.tenant_id = of_tenant and x.id = of_session
      for no key update skip locked;
    if not found then
      return;
    end if;
    room := least(room, allowed - (select count(*) from jobs j where j.tenant_id = of_tenant
      and j.session_id = of_session and j.status = 'processing'));
  end if;
  if room <= 0 then
    return;
  end if;
  if not exists (select from concurrency_limits l where l.tenant_id = of_tenant) then
    places := find_due(array[of_tenant], array[of_session], room, room, '{}');
  elsif pg_try_advisory_xact_lock(hashtextextended(of_tenant::text, 1)) then
    places := find_due_by_key(of_tenant, of_session, room);
  end if;
  if cardinality(places) > 0 then
    return query
      update jobs j set status = 'processing', worker_id = for_worker,
        lease_token = gen_random_uuid(), lease_until = app_now() + lease,
        started_at = coalesce(j.started_at, app_now())
      where j.ctid = any (places)
      returning j.*;
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.claim_next(workers uuid[], rooms integer[], of_sessions uuid[], leases interval[])
 RETURNS SETOF jobs
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  asked record;
begin
  if exists (select from concurrency_limits l where l.tenant_id = current_tenant()) then
    if exists (
      select from concurrency_limits l
      cross join lateral (
        select from jobs o where o.session_id = any (of_sessions) and o.tenant_id = l.tenant_id
          and o.concurrency_key = l.key and o.run_after <= app_now()
          and o.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        limit 1) as own
      join sessions x on x.tenant_id = l.tenant_id and x.status = 'running' and x.gates = '{}'
        and x.id <> all (of_sessions)
        and (x.max_running is null or x.max_running > (select count(*) from jobs r
          where r.session_id = x.id and r.tenant_id = x.tenant_id and r.status = 'processing'))
      cross join lateral (
        select from jobs j where j.session_id = x.id and j.tenant_id = x.tenant_id
          and j.concurrency_key = l.key and j.run_after <= app_now()
          and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        limit 1) as due
      where l.tenant_id = current_tenant())
    then
      return next null::jobs;
      return;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(current_tenant()::text, 1));
  end if;
  for asked in
    select w.worker, w.session, w.lease, sum(w.room)::int as room
    from unnest(workers, rooms, of_sessions, leases) as w (worker, room, session, lease)
    group by w.worker, w.session, w.lease
  loop
    return query select * from claim_limited(
      asked.worker, current_tenant(), asked.session, asked.room, asked.lease);
  end loop;
end
$function$
CREATE OR REPLACE FUNCTION public.close_hold(of_tenant uuid, of_call uuid, of_purpose text, to_status text)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  hold holds;
begin
  perform require_tenant(of_tenant);
  if to_status not in ('void', 'expired') then
    raise exception 'a hold that is closed is void or expired, not %', to_status
      using errcode = 'DX000', hint = 'internal_error';
  end if;
  hold := lock_hold(of_tenant, of_call, of_purpose);
  if hold.status = 'held' then
    update holds h set status = to_status, settled_at = app_now()
    where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
    perform release_holds(of_tenant, array[hold], array[0], array[0]);
    return true;
  end if;
  if hold.status = 'posted' and to_status = 'void' then
    raise exception 'the hold of call % is posted', of_call
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  return hold.status <> 'posted';
end
$function$
CREATE OR REPLACE FUNCTION public.complete_held_jobs(ids uuid[], tokens uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  update jobs j set status = 'completed', continued = false, attempt = 0, error = null,
    finished_at = app_now(), run_after = app_now(), committed_token = j.lease_token,
    worker_id = null, lease_token = null, lease_until = null
  where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
    and j.status = 'processing';
end
$function$
CREATE OR REPLACE FUNCTION public.complete_jobs(tenants uuid[], ids uuid[], tokens uuid[])
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
    update jobs j set status = 'completed', finished_at = app_now(), error = null,
      worker_id = null, lease_token = null, lease_until = null
    where j.tenant_id = any (tenants) and j.id = any (ids) and j.lease_token = any (tokens)
    returning j.id;
end
$function$
CREATE OR REPLACE FUNCTION public.current_tenant()
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (NULLIF(current_setting('dialectic.tenant'::text, true), ''::text))::uuid
CREATE OR REPLACE FUNCTION public.delete_unused_bytes(of_tenant uuid, hashes text[])
 RETURNS bigint
 LANGUAGE sql
AS $function$
  with gone as (
    delete from archived_bytes a where a.tenant_id = of_tenant and a.hash = any (hashes)
      and not exists (select from source_copies c
        where c.tenant_id = of_tenant and c.bytes_hash = a.hash)
    returning octet_length(a.body) as size)
  select coalesce(sum(g.size), 0)::bigint from gone g
$function$
CREATE OR REPLACE FUNCTION public.delete_unused_recipes(of_tenant uuid, hashes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  delete from recipe_versions v where v.tenant_id = of_tenant and v.hash = any (hashes)
    and not exists (select from sessions s where s.tenant_id = of_tenant and s.recipe_hash = v.hash);
  delete from recipe_stages g where g.tenant_id = of_tenant and not exists (
    select from recipe_versions v, json_array_elements(v.manifest->'stages') as part
    where v.tenant_id = of_tenant and part->>'hash' = g.hash);
end
$function$
CREATE OR REPLACE FUNCTION public.delete_unused_texts(of_tenant uuid, hashes text[])
 RETURNS bigint
 LANGUAGE sql
AS $function$
  with gone as (
    delete from blobs b where b.tenant_id = of_tenant and b.hash = any (hashes)
      and not exists (select from projects p
        where p.tenant_id = of_tenant and p.brief_hash = b.hash)
      and not exists (select from resources r
        where r.tenant_id = of_tenant and r.blob_hash = b.hash)
      and not exists (select from source_excerpts x
        where x.tenant_id = of_tenant and x.blob_hash = b.hash)
      and not exists (select from contributions c
        where c.tenant_id = of_tenant and c.blob_hash = b.hash)
      and not exists (select from documents d
        where d.tenant_id = of_tenant and d.markdown_hash = b.hash)
      and not exists (select from documents d
        where d.tenant_id = of_tenant and d.body_hash = b.hash)
      and not exists (select from model_calls m
        where m.tenant_id = of_tenant and m.request_hash = b.hash)
      and not exists (select from call_parts q
        where q.tenant_id = of_tenant and q.blob_hash = b.hash)
    returning octet_length(b.body) as size)
  select coalesce(sum(g.size), 0)::bigint from gone g
$function$
CREATE OR REPLACE FUNCTION public.describe_jobs(of_tenant uuid, of_job uuid)
 RETURNS SETOF jsonb
 LANGUAGE sql
 STABLE ROWS 1
AS $function$
  select jsonb_build_object('jobId', j.id, 'chainId', j.chain_id, 'type', j.job_type,
    'stage', r.stage_key, 'iteration', r.iteration, 'laneId', j.lane_id, 'lane', l.ordinal,
    'model', l.model, 'step', j.step_key, 'documentKey', j.document_key)
  from jobs j
  left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
  left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
  where j.tenant_id = of_tenant and j.id = of_job
$function$
CREATE OR REPLACE FUNCTION public.erase_project(of_tenant uuid, of_project uuid, OUT erased_sessions integer, OUT erased_documents integer, OUT erased_bytes bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  ids uuid[];
  texts text[];
  recipes text[];
  copies text[];
  topics text[];
begin
  perform require_tenant(of_tenant);
  ids := lock_for_erasing(of_tenant, of_project);
  texts := texts_of(of_tenant, of_project, ids);
  recipes := array(select s.recipe_hash from sessions s
    where s.tenant_id = of_tenant and s.id = any (ids) and s.recipe_hash is not null);
  copies := array(select c.bytes_hash from source_copies c
    where c.tenant_id = of_tenant and c.project_id = of_project and c.bytes_hash is not null);
  topics := array(select 'session/' || id from unnest(ids) as id) || array['project/' || of_project];
  erased_sessions := cardinality(ids);
  select count(*) into erased_documents from documents d
  where d.tenant_id = of_tenant and d.session_id = any (ids) and d.kind = 'document';
  delete from call_pieces p using model_calls c
  where p.tenant_id = of_tenant and c.tenant_id = of_tenant and c.id = p.call_id
    and c.session_id = any (ids);
  delete from call_parts q using model_calls c
  where q.tenant_id = of_tenant and c.tenant_id = of_tenant and c.id = q.call_id
    and c.session_id = any (ids);
  delete from feedback f where f.tenant_id = of_tenant and f.session_id = any (ids);
  delete from documents d where d.tenant_id = of_tenant and d.session_id = any (ids);
  delete from model_calls c where c.tenant_id = of_tenant and c.session_id = any (ids);
  delete from contributions c where c.tenant_id = of_tenant and c.session_id = any (ids);
  delete from lane_steps l using stage_runs r
  where l.tenant_id = of_tenant and r.tenant_id = of_tenant and r.id = l.stage_run_id
    and r.session_id = any (ids);
  delete from jobs j where j.tenant_id = of_tenant and j.session_id = any (ids);
  delete from stage_runs r where r.tenant_id = of_tenant and r.session_id = any (ids);
  delete from lanes l where l.tenant_id = of_tenant and l.session_id = any (ids);
  delete from events e where e.tenant_id = of_tenant and e.topic = any (topics);
  -- Whoever watches a session would otherwise wait for ever for its next event.
  perform tell_session(of_tenant, s.id, 'session-erased',
    jsonb_build_object('iteration', s.iteration))
  from sessions s where s.tenant_id = of_tenant and s.id = any (ids);
  delete from notices n where n.tenant_id = of_tenant and n.topic = any (topics);
  delete from budgets b where b.tenant_id = of_tenant
    and b.scope in ('session', 'project') and b.owner_id = any (ids || of_project);
  delete from sessions s where s.tenant_id = of_tenant and s.id = any (ids);
  -- Sources, their excerpts, their copies and what cites them go with the project and its documents.
  delete from resources r where r.tenant_id = of_tenant and r.project_id = of_project;
  delete from projects p where p.tenant_id = of_tenant and p.id = of_project;
  erased_bytes := delete_unused_texts(of_tenant, texts) + delete_unused_bytes(of_tenant, copies);
  perform delete_unused_recipes(of_tenant, recipes);
end
$function$
CREATE OR REPLACE FUNCTION public.event_horizon()
 RETURNS xid8
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select require_tenant(current_tenant());
  select coalesce(min(running), pg_snapshot_xmax(pg_current_snapshot()))
  from pg_snapshot_xip(pg_current_snapshot()) running
  where not exists (
    select from pg_stat_activity a
    where a.backend_xid::text::bigint = running::text::bigint & 4294967295
      and (a.datname <> current_database() or a.backend_type = 'autovacuum worker'))
$function$
CREATE OR REPLACE FUNCTION public.extend_leases(of_worker uuid, tokens uuid[], lease interval)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  return query select j.lease_token from jobs j
    where j.worker_id = of_worker and j.status = 'processing';
  with mine as (
    select j.tenant_id, j.id from jobs j
    where j.worker_id = of_worker and j.status = 'processing' and j.lease_token = any (tokens)
    for update skip locked)
  update jobs j set lease_until = app_now() + lease
  from mine where j.tenant_id = mine.tenant_id and j.id = mine.id;
end
$function$
CREATE OR REPLACE FUNCTION public.fail_parents(ended job_end[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update jobs p set status = 'failed', finished_at = app_now(), lease_token = null,
    worker_id = null,
    error = jsonb_build_object('code', 'child_failed', 'message', 'A job under this one failed.',
      'details', jsonb_build_object('jobId', e.id))
  from (
    select distinct on (tenant_id, parent_job_id) tenant_id, parent_job_id, id from unnest(ended)
    where parent_job_id is not null and counts and status <> 'completed'
      and dependency_policy = 'all'
    order by tenant_id, parent_job_id, id
  ) as e
  where p.tenant_id = e.tenant_id and p.id = e.parent_job_id and not is_over(p.status);
end
$function$
CREATE OR REPLACE FUNCTION public.fail_session()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update sessions set status = 'failed'
  where tenant_id = new.tenant_id and id = new.session_id and status = 'running';
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.find_due(of_tenants uuid[], of_sessions uuid[], share integer, room integer, taken tid[])
 RETURNS tid[]
 LANGUAGE plpgsql
AS $function$
begin
  return array(
    select d.place from unnest(of_tenants, of_sessions) as s (tenant_id, id)
    cross join lateral (
      select c.ctid as place from jobs c
      where c.session_id = s.id and c.tenant_id = s.tenant_id and c.run_after <= app_now()
        and c.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
        and c.ctid <> all (taken)
      order by c.run_after, c.seq limit share for update skip locked) as d
    limit room);
end
$function$
CREATE OR REPLACE FUNCTION public.find_due_by_key(of_tenant uuid, of_session uuid, room integer)
 RETURNS tid[]
 LANGUAGE plpgsql
AS $function$
begin
  return array(
    with free as materialized (
      select l.key, l.max_running - (select count(*) from jobs r where r.status = 'processing'
        and r.concurrency_key = l.key and r.tenant_id = of_tenant) as places
      from concurrency_limits l where l.tenant_id = of_tenant
    ), candidates as (
      select j.id, j.run_after, j.seq, f.places,
        row_number() over (partition by j.concurrency_key order by j.run_after, j.seq) as nth
      from jobs j left join free f on f.key = j.concurrency_key
      where j.session_id = of_session and j.tenant_id = of_tenant and j.run_after <= app_now()
        and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
    )
    select j.ctid from jobs j
    where j.tenant_id = of_tenant
      and j.status in ('pending', 'retrying', 'pending_next_step', 'pending_continuation')
      and j.id in (select c.id from candidates c where c.places is null or c.nth <= c.places
        order by c.run_after, c.seq limit room)
    for update skip locked);
end
$function$
CREATE OR REPLACE FUNCTION public.follow_entries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  uneven bigint;
  owners bigint;
  followed bigint;
begin
  select e.posting_id into uneven from new_rows e
  group by e.tenant_id, e.posting_id, e.currency having sum(e.amount) <> 0 limit 1;
  if found then
    raise exception 'the entries of posting % do not sum to zero', uneven
      using errcode = 'DX000', hint = 'ledger_unbalanced';
  end if;
  with moved as (
    select c.tenant_id, c.account_id, count(*) as entries, sum(c.amount) as amount,
      min(c.seq - c.nth) as least_seq, max(c.seq - c.nth) as greatest_seq,
      min(c.balance - c.so_far) as least_balance, max(c.balance - c.so_far) as greatest_balance
    from (
      select e.*, row_number() over w as nth, sum(e.amount) over w as so_far from new_rows e
      window w as (partition by e.tenant_id, e.account_id order by e.seq)) as c
    group by c.tenant_id, c.account_id
  ), follow as (
    update accounts a set balance = a.balance + m.amount, entry_count = a.entry_count + m.entries
    from moved m where a.tenant_id = m.tenant_id and a.id = m.account_id
      and a.entry_count = m.least_seq and a.entry_count = m.greatest_seq
      and a.balance = m.least_balance and a.balance = m.greatest_balance
    returning 1
  )
  select (select count(*) from moved), (select count(*) from follow) into owners, followed;
  if followed <> owners then
    raise exception 'entries do not follow those of their account'
      using errcode = 'DX000', hint = 'ledger_unbalanced';
  end if;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.grant_funds(of_tenant uuid, of_key text, of_project uuid, of_currency text, amount bigint, about jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  of_content text;
  wallet uuid;
  known bigint;
  missing bigint;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('The grant', variadic array[amount]);
  of_content := concat_ws('/', 'grant', of_project, of_currency, amount);
  wallet := open_account(of_tenant, case when of_project is null then 'user' else 'project' end,
    coalesce(of_project::text, ''), of_currency, of_project is null);
  perform 1 from accounts a where a.tenant_id = of_tenant and a.id = wallet for update;
  known := replayed_posting(of_tenant, of_key, of_content);
  if known is not null then
    return known;
  end if;
  select a.held - a.balance into missing from accounts a
  where a.tenant_id = of_tenant and a.id = wallet and a.unlimited;
  if missing > 0 then
    perform move_funds(of_tenant, 'opening/' || of_key, 'opening', of_content, wallet, of_currency,
      missing, about);
  end if;
  known := move_funds(of_tenant, of_key, 'grant', of_content, wallet, of_currency, amount, about);
  update accounts a set unlimited = false
  where a.tenant_id = of_tenant and a.id = wallet and a.unlimited;
  perform check_amounts('The wallet with this grant', variadic array[greatest(0, a.balance)]) from accounts a
  where a.tenant_id = of_tenant and a.id = wallet;
  return known;
end
$function$
CREATE OR REPLACE FUNCTION public.handle_job_completion()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  ended job_end[];
  chains uuid[];
  suspended uuid[];
  parents uuid[];
  runs uuid[];
  tenants uuid[];
  has_lanes boolean;
  has_links boolean;
  has_losses boolean;
begin
  select array_agg(n.ended) filter (where n.is_end),
    array_agg(n.chain_id) filter (where n.is_end),
    array_agg(n.id) filter (where not n.is_end),
    array_agg(n.parent_job_id) filter (where n.is_end and n.parent_job_id is not null and n.counts),
    array_agg(n.stage_run_id) filter (where n.is_end and n.stage_run_id is not null),
    array_agg(n.tenant_id),
    bool_or(n.role = 'lane'), bool_or(n.chain_id <> n.id),
    bool_or(n.status in ('failed', 'cancelled'))
  into ended, chains, suspended, parents, runs, tenants, has_lanes, has_links, has_losses
  from (
    select n.*, n.status <> 'waiting_for_children' as is_end, row(n.tenant_id, n.id, n.status,
      n.counts, n.parent_job_id, n.chain_id, n.stage_run_id, n.lane_id, n.step_key,
      n.dependency_policy)::job_end as ended
    from new_rows n
  ) as n
  where (n.status in ('completed', 'failed', 'cancelled') and not n.continued
      and (n.tenant_id, n.id) not in (
        select o.tenant_id, o.id from old_rows o where is_over(o.status)))
    or n.status = 'waiting_for_children';
  -- With nothing to wait for a parent would sleep for ever.
  if suspended is not null then
    perform wake_parents(tenants, suspended);
  end if;
  if ended is null then
    return null;
  end if;

  if runs is not null then
    perform settle_lanes(ended, tenants, runs, has_lanes, has_losses);
  end if;
  -- The row lock comes before the count: two last children that end at the same time would otherwise
  -- each see the other one as still open.
  if parents is not null then
    perform 1 from jobs p where p.tenant_id = any (tenants) and p.id = any (parents)
      order by p.id for update;
    if has_losses then
      perform fail_parents(ended);
    end if;
    perform wake_parents(tenants, parents);
  end if;
  -- An insert of a waiter locks the chain's first link, so the end of a later link must lock it, too.
  if has_links then
    perform 1 from jobs f
      where (f.tenant_id, f.id) in (select e.tenant_id, e.chain_id from unnest(ended) as e)
      order by f.id for update;
  end if;
  -- An update of no rows would fire the triggers of jobs all the same.
  if exists (select from unnest(chains) as c (id) cross join lateral (
    select from jobs w where w.prerequisite_job_id = c.id and w.status = 'waiting_for_prerequisite'
    limit 1) as w)
  then
    perform wake_waiters(ended);
  end if;
  if has_losses then
    perform cancel_children(ended);
  end if;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.handle_job_insertion()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  named job_place[];
  named_tenants uuid[];
  named_ids uuid[];
  found_jobs int;
begin
  if exists (
    select from (select distinct tenant_id, session_id from new_rows) as n
    left join lateral (select true as found from sessions x
      where x.tenant_id = n.tenant_id and x.id = n.session_id for key share) as x on true
    where x.found is null)
  then
    raise exception 'a job names a session that is not there' using errcode = '23503';
  end if;
  -- A plan that waits from the beginning is woken by its children alone: they come with it. This is not
  -- asked of stages: builds before edition 29 insert the roots of lanes with the next statement.
  if exists (select from new_rows n where n.status = 'waiting_for_children' and n.job_type = 'PLAN'
    and n.role <> 'stage'
    and n.id not in (select c.parent_job_id from new_rows c where c.parent_job_id is not null))
  then
    raise exception 'a job waits for children that do not come with it'
      using errcode = 'DX000', hint = 'internal_error';
  end if;
  select array_agg(row(r.tenant_id, r.id)::job_place), array_agg(r.tenant_id), array_agg(r.id)
  into named, named_tenants, named_ids
  from (
    select n.tenant_id, n.parent_job_id as id from new_rows n where n.parent_job_id <> n.id
    union
    select n.tenant_id, n.prerequisite_job_id from new_rows n where n.prerequisite_job_id <> n.id
    union
    select n.tenant_id, n.chain_id from new_rows n where n.chain_id <> n.id
  ) as r;
  -- A link whose parent has ended ends at once, and locks its stage run, which comes before parents.
  if exists (select from new_rows where chain_id <> id and parent_job_id is not null) then
    perform 1 from stage_runs r
      where (r.tenant_id, r.id) in (select n.tenant_id, n.stage_run_id from new_rows n
        where n.chain_id <> n.id and n.parent_job_id is not null)
      order by r.id for no key update;
  end if;
  if named is not null then
    -- Conditions on both columns of the key, not a join: beside the policy's condition on the tenant the
    -- planner would take the id for a filter and read all jobs of the tenant.
    perform 1 from jobs p where p.tenant_id = any (named_tenants) and p.id = any (named_ids)
      and row(p.tenant_id, p.id)::job_place = any (named)
      order by p.id for share;
    get diagnostics found_jobs = row_count;
    if found_jobs < cardinality(named) then
      raise exception 'a job names another one that is not there'
        using errcode = 'DX000', hint = 'not_found';
    end if;
    if exists (
      select from (select distinct tenant_id, parent_job_id as id from new_rows
        where counts and chain_id = id and parent_job_id is not null) as r
      cross join lateral (
        select p.status from jobs p where p.tenant_id = r.tenant_id and p.id = r.id limit 1) as p
      where is_over(p.status)
    ) then
      raise exception 'a job that is over cannot get children'
        using errcode = 'DX000', hint = 'parent_finished';
    end if;
  end if;

  if exists (select from new_rows where parent_job_id is not null and prerequisite_job_id is not null)
    and waits_for_itself(array(select row(tenant_id, id, parent_job_id, prerequisite_job_id)::job_wait
      from new_rows where parent_job_id is not null and prerequisite_job_id is not null))
  then
    raise exception 'a job waits for one that cannot end before it'
      using errcode = 'DX000', hint = 'job_cycle';
  end if;

  insert into lane_steps (tenant_id, stage_run_id, lane_id, step_key, state)
  select tenant_id, stage_run_id, lane_id, step_key,
    case when bool_and(status = 'waiting_for_prerequisite') then 'waiting' else 'running' end
  from new_rows
  where role = 'step' and counts and parent_job_id is not null and stage_run_id is not null
    and lane_id is not null
  group by tenant_id, stage_run_id, lane_id, step_key
  on conflict (tenant_id, stage_run_id, lane_id, step_key)
    do update set degraded = false, state = case
      when excluded.state = 'waiting' and lane_steps.state = 'running' then 'running'
      else excluded.state end;

  -- A prerequisite that is over already has woken its waiters before this one was there.
  if exists (select from new_rows where status = 'waiting_for_prerequisite') then
    perform wake_waiters(array_agg(
      row(p.tenant_id, p.id, case when p.status = 'superseded' then 'completed' else p.status end,
        p.counts, p.parent_job_id, p.chain_id, p.stage_run_id, p.lane_id, p.step_key,
        p.dependency_policy)::job_end))
    from (select distinct tenant_id, prerequisite_job_id from new_rows
      where status = 'waiting_for_prerequisite') as n
    join jobs p on p.tenant_id = n.tenant_id and (p.id = n.prerequisite_job_id
      or (p.chain_id = n.prerequisite_job_id and p.chain_id <> p.id))
    where is_over(p.status) and not p.continued;
  end if;

  -- The next link of a chain that ran when its parent ended: what was written stays, and a retry
  -- goes on from there.
  if exists (select from new_rows where chain_id <> id and parent_job_id is not null) then
    update jobs c set status = 'cancelled', cancel_reason = 'parent_ended',
      finished_at = app_now(),
      error = jsonb_build_object('code', 'parent_ended',
        'message', 'The job above this one ended before it could start.',
        'details', jsonb_build_object('jobId', p.id))
    from new_rows n join jobs p on p.tenant_id = n.tenant_id and p.id = n.parent_job_id
    where n.chain_id <> n.id and n.counts and p.status in ('failed', 'cancelled')
      and c.tenant_id = n.tenant_id and c.id = n.id;
  end if;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.hold_funds(of_tenant uuid, of_call uuid, of_purpose text, of_session uuid, of_provider text, worst_usd bigint, worst_tokens bigint, in_usd bigint, in_tokens bigint, automatic boolean, of_price jsonb DEFAULT NULL::jsonb, OUT outcome text, OUT usd_left bigint, OUT tokens_left bigint, OUT short_scope text, OUT short_currency text)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  known holds;
  home record;
  payers record;
  has_budgets boolean;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A hold', variadic array[worst_usd, worst_tokens, in_usd, in_tokens]);
  select s.project_id, s.spending_approved into home from sessions s
  where s.tenant_id = of_tenant and s.id = of_session;
  payers := lock_payers(of_tenant, home.project_id);
  select h.* into known from holds h
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
  if found then
    if (known.session_id, known.provider, known.usd, known.tokens)
      is distinct from (of_session, of_provider, worst_usd, worst_tokens)
    then
      raise exception 'call % already has another hold', of_call
        using errcode = 'DX000', hint = 'idempotency_mismatch';
    end if;
    outcome := known.status;
    return;
  end if;

  automatic := automatic and home.spending_approved is not true;
  has_budgets := lock_budgets(of_tenant, of_session);
  if has_budgets or not (payers.usd).unlimited or not (payers.tok).unlimited then
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, payers.usd, payers.tok, worst_usd, worst_tokens,
      automatic) as w;
  end if;
  if outcome is not null and outcome <> 'approval'
    and settle_left_holds(of_tenant) > 0
  then
    payers := lock_payers(of_tenant, home.project_id);
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, payers.usd, payers.tok, worst_usd, worst_tokens,
      automatic) as w;
  end if;
  if outcome is not null then
    return;
  end if;

  update accounts a
  set held = a.held + case a.id when (payers.usd).id then worst_usd else worst_tokens end
  where a.tenant_id = of_tenant and a.id in ((payers.usd).id, (payers.tok).id);
  if has_budgets then
    perform add_to_budgets(of_tenant, of_session, worst_usd, worst_tokens, 0, 0);
  end if;
  insert into holds (tenant_id, call_id, purpose, session_id, provider, usd, tokens, input_usd,
    input_tokens, price, usd_account_id, token_account_id)
  values (of_tenant, of_call, of_purpose, of_session, of_provider, worst_usd, worst_tokens, in_usd,
    in_tokens, of_price, (payers.usd).id, (payers.tok).id);
  outcome := 'held';
end
$function$
CREATE OR REPLACE FUNCTION public.hold_leases(ids uuid[], tokens uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  lost uuid;
begin
  perform set_config('dialectic.quiet', 'on', true);
  with held as (
    select j.id from jobs j
    where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
      and j.status = 'processing'
    order by j.seq desc for update)
  select l.id into lost from unnest(ids) as l (id)
  where l.id not in (select h.id from held h) limit 1;
  if found then
    perform refuse_lease(lost);
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.hold_unlimited(of_tenant uuid, calls uuid[], purposes text[], of_session uuid, providers text[], worst_usd bigint[], worst_tokens bigint[], in_usd bigint[], in_tokens bigint[], prices jsonb[])
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  payers record;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A hold', variadic worst_usd || worst_tokens || in_usd || in_tokens);
  payers := lock_payers(of_tenant, (select s.project_id from sessions s
    where s.tenant_id = of_tenant and s.id = of_session));
  if not (payers.usd).unlimited or not (payers.tok).unlimited
    or exists (select from budgets b where b.tenant_id = of_tenant)
    or exists (select from holds h where h.tenant_id = of_tenant and h.call_id = any (calls))
  then
    return false;
  end if;
  update accounts a set held = a.held + case a.id
    when (payers.usd).id then (select sum(u.amount) from unnest(worst_usd) as u (amount))
    else (select sum(t.amount) from unnest(worst_tokens) as t (amount)) end
  where a.tenant_id = of_tenant and a.id in ((payers.usd).id, (payers.tok).id);
  insert into holds (tenant_id, call_id, purpose, session_id, provider, usd, tokens, input_usd,
    input_tokens, price, usd_account_id, token_account_id)
  select of_tenant, h.call_id, h.purpose, of_session, h.provider, h.usd, h.tokens, h.in_usd,
    h.in_tokens, h.price, (payers.usd).id, (payers.tok).id
  from unnest(calls, purposes, providers, worst_usd, worst_tokens, in_usd, in_tokens, prices)
    as h (call_id, purpose, provider, usd, tokens, in_usd, in_tokens, price);
  return true;
end
$function$
CREATE OR REPLACE FUNCTION public.insert_jobs(families jsonb)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  return query
    insert into jobs (tenant_id, id, session_id, stage_run_id, lane_id, step_key, job_type, role,
      status, parent_job_id, prerequisite_job_id, chain_id, dependency_policy, quorum,
      concurrency_key, max_attempts, input_digest, idempotency_key, document_key,
      document_identity, source_group, responding_lane_id, payload, ends_with_children)
    select current_tenant(), n.id, f.session_id, f.stage_run_id, f.lane_id, n.step_key, n.job_type,
      coalesce(n.role, 'step'), coalesce(n.status, 'pending'), f.parent_job_id,
      n.prerequisite_job_id, coalesce(n.chain_id, n.id), coalesce(n.dependency_policy, 'all'),
      n.quorum, n.concurrency_key, n.max_attempts, n.input_digest, n.idempotency_key,
      n.document_key, n.document_identity, n.source_group, n.responding_lane_id, n.payload,
      coalesce(n.ends_with_children, false)
    from jsonb_to_recordset(families->'rows') as f (session_id uuid, stage_run_id uuid,
      lane_id uuid, parent_job_id uuid, jobs jsonb)
    cross join lateral jsonb_to_recordset(f.jobs) as n (id uuid, step_key text, job_type text,
      role text, status text, prerequisite_job_id uuid, chain_id uuid, dependency_policy text,
      quorum int, concurrency_key text, max_attempts int, input_digest text,
      idempotency_key text, document_key text, document_identity text, source_group uuid,
      responding_lane_id uuid, payload jsonb, ends_with_children boolean)
    on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
    returning jobs.id;
end
$function$
CREATE OR REPLACE FUNCTION public.is_any_moving(of_tenant uuid, of_scope text, of_owner uuid, asking_session uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (select from holds h
    left join model_calls c on c.tenant_id = of_tenant and c.id = h.call_id
    left join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
    left join sessions s on s.tenant_id = of_tenant and s.id = j.session_id
    where h.tenant_id = of_tenant and h.status = 'held'
      and (j.id is null or j.status = 'processing' or is_over(j.status)
        or (s.status = 'running' and s.gates = '{}' and (s.id = asking_session
          or j.run_after > app_now() - interval '30 seconds' or exists (select from jobs o
            where o.tenant_id = of_tenant and o.session_id = s.id and o.status = 'processing'))))
      and case of_scope when 'account' then of_owner in (h.usd_account_id, h.token_account_id)
        else is_within(of_tenant, h.session_id, of_scope, of_owner) end)
$function$
CREATE OR REPLACE FUNCTION public.is_open(status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (status = ANY (ARRAY['pending'::text, 'processing'::text, 'retrying'::text, 'pending_next_step'::text, 'pending_continuation'::text, 'waiting_for_children'::text, 'waiting_for_lanes'::text, 'waiting_for_prerequisite'::text]))
CREATE OR REPLACE FUNCTION public.is_over(status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'superseded'::text]))
CREATE OR REPLACE FUNCTION public.is_within(of_tenant uuid, of_session uuid, of_scope text, of_owner uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select case of_scope
    when 'tenant' then true
    when 'session' then of_session is not distinct from of_owner
    else exists (select from sessions s where s.tenant_id = of_tenant and s.id = of_session
      and s.project_id = of_owner)
  end
$function$
CREATE OR REPLACE PROCEDURE public.isolate_table(IN table_name text, IN privileges text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format('alter table %I enable row level security', table_name);
  execute format('alter table %I force row level security', table_name);
  execute format(
    'create policy tenant_only on %I for all to dialectic_app '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name
  );
  execute format('grant %s on %I to dialectic_app', privileges, table_name);
end
$procedure$
CREATE OR REPLACE FUNCTION public.job_event_entry(job_id uuid, chain_id uuid, document_key text, status text, error jsonb, attempt integer, run_after timestamp with time zone)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN CASE WHEN (status = 'retrying'::text) THEN jsonb_build_object('jobId', job_id, 'chainId', chain_id, 'documentKey', document_key, 'error', short_error(error), 'attempt', attempt, 'nextTryAt', run_after) WHEN (status = ANY (ARRAY['failed'::text, 'cancelled'::text])) THEN jsonb_build_object('jobId', job_id, 'chainId', chain_id, 'documentKey', document_key, 'error', short_error(error)) WHEN ((chain_id = job_id) AND (document_key IS NULL)) THEN jsonb_build_object('jobId', job_id) WHEN (chain_id = job_id) THEN jsonb_build_object('jobId', job_id, 'documentKey', document_key) ELSE jsonb_build_object('jobId', job_id, 'chainId', chain_id, 'documentKey', document_key) END
CREATE OR REPLACE FUNCTION public.job_event_kind(from_status text, to_status text, is_continued boolean)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (to_status = 'processing'::text) THEN 'job-started'::text WHEN (to_status = 'retrying'::text) THEN 'job-retried'::text WHEN ((to_status = 'completed'::text) AND is_continued) THEN 'job-continued'::text WHEN (to_status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'superseded'::text])) THEN ('job-'::text || to_status) WHEN (from_status = ANY (ARRAY['failed'::text, 'cancelled'::text])) THEN 'job-reopened'::text WHEN (to_status = ANY (ARRAY['waiting_for_children'::text, 'waiting_for_lanes'::text])) THEN 'job-suspended'::text WHEN (from_status = 'processing'::text) THEN 'job-requeued'::text ELSE 'job-woken'::text END
CREATE OR REPLACE FUNCTION public.keep_texts()
 RETURNS void
 LANGUAGE sql
AS $function$
  select pg_advisory_xact_lock_shared(hashtextextended(current_tenant()::text, 3))
$function$
CREATE OR REPLACE FUNCTION public.ledger_owner()
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN CASE WHEN (SELECT pg_roles.rolsuper FROM pg_roles WHERE (pg_roles.rolname = CURRENT_USER)) THEN 'dialectic_ledger'::name ELSE CURRENT_USER END
CREATE OR REPLACE FUNCTION public.lock_budgets(of_tenant uuid, of_session uuid)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from budgets b where b.tenant_id = of_tenant) then
    return false;
  end if;
  perform 1 from budgets b
  where (b.tenant_id, b.scope, b.owner_id, b.currency) in (
    select m.tenant_id, m.scope, m.owner_id, m.currency from budgets_of(of_tenant, of_session) m)
  order by b.scope, b.owner_id, b.currency for update;
  return true;
end
$function$
CREATE OR REPLACE FUNCTION public.lock_for_erasing(of_tenant uuid, of_project uuid)
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
declare
  ids uuid[];
  busy uuid;
begin
  perform 1 from projects p where p.tenant_id = of_tenant and p.id = of_project for update;
  if not found then
    raise exception 'There is no project %.', of_project using errcode = 'DX000', hint = 'not_found';
  end if;
  perform 1 from sessions s where s.tenant_id = of_tenant and s.project_id = of_project
  order by s.id for update;
  select coalesce(array_agg(s.id), '{}'), (array_agg(s.id) filter (where s.status = 'running'))[1]
  into ids, busy from sessions s where s.tenant_id = of_tenant and s.project_id = of_project;
  if busy is not null then
    raise exception 'Session % of the project is running. End it first with: dialectic cancel %',
      busy, busy using errcode = 'DX000', hint = 'session_running';
  end if;
  perform 1 from jobs j where j.tenant_id = of_tenant and j.session_id = any (ids)
  order by j.seq desc for update;
  perform 1 from model_calls c where c.tenant_id = of_tenant and c.session_id = any (ids)
  order by c.id for update;
  select h.session_id into busy from holds h
  where h.tenant_id = of_tenant and h.session_id = any (ids) and h.status = 'held' limit 1;
  if busy is not null then
    raise exception 'A call of session % is still in flight. Try again when it has ended.', busy
      using errcode = 'DX000', hint = 'session_running';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(of_tenant::text, 3));
  return ids;
end
$function$
CREATE OR REPLACE FUNCTION public.lock_hold(of_tenant uuid, of_call uuid, of_purpose text)
 RETURNS holds
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  hold holds;
begin
  perform require_tenant(of_tenant);
  perform lock_payers_of(of_tenant, array[of_call], array[of_purpose]);
  select h.* into hold from holds h
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
  if not found then
    raise exception 'call % has no hold', of_call using errcode = 'DX000', hint = 'hold_missing';
  end if;
  return hold;
end
$function$
CREATE OR REPLACE FUNCTION public.lock_payers(of_tenant uuid, of_project uuid, OUT usd accounts, OUT tok accounts)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  payers record;
begin
  loop
    select u.payer as usd, t.payer as tok into payers
    from (
      select a as payer from accounts a
      where a.tenant_id = of_tenant and a.currency = 'USD' and ((a.kind = 'user' and a.owner = '')
        or (a.kind = 'project' and a.owner = of_project::text))
      order by a.kind = 'user' limit 1 for update) as u
    cross join lateral (
      select a as payer from accounts a
      where a.tenant_id = (u.payer).tenant_id and a.currency = 'token'
        and ((a.kind = 'user' and a.owner = '')
          or (a.kind = 'project' and a.owner = of_project::text))
      order by a.kind = 'user' limit 1 for update) as t;
    if found then
      usd := payers.usd;
      tok := payers.tok;
      return;
    end if;
    perform open_account(of_tenant, 'user', '', 'USD', true);
    perform open_account(of_tenant, 'user', '', 'token', true);
  end loop;
end
$function$
CREATE OR REPLACE FUNCTION public.lock_payers_of(of_tenant uuid, calls uuid[], purposes text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform 1 from accounts a
  where a.tenant_id = of_tenant and a.id = any (array(
    select unnest(array[h.usd_account_id, h.token_account_id]) from holds h
    where h.tenant_id = of_tenant and h.call_id = any (calls) and h.purpose = any (purposes)))
  order by a.currency = 'token', a.kind, a.owner for update;
end
$function$
CREATE OR REPLACE FUNCTION public.lock_wallets(of_tenant uuid)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select require_tenant(of_tenant);
  select 1 from accounts a where a.tenant_id = of_tenant and a.kind in ('user', 'project')
  order by a.currency = 'token', a.kind, a.owner for update
$function$
CREATE OR REPLACE FUNCTION public.match_chunks(of_tenant uuid, of_items text[], of_session uuid, of_model text, question text[], question_vector real[], depth integer, most integer)
 RETURNS TABLE(item text, place integer, digest text, body text, score double precision)
 LANGUAGE sql
 STABLE
AS $function$
  select c.item, c.place, c.digest, c.body, f.score
  from (
    select h.item, h.place, sum(5.0::float8 / (9 + h.rank)) as score from (
      select * from match_vectors(of_tenant, of_items, of_session, of_model, question_vector, depth)
      union all
      select * from match_words(of_tenant, of_items, of_session, question, depth)
    ) as h group by h.item, h.place
  ) as f
  join memory_chunks c on c.tenant_id = of_tenant and c.item = f.item and c.place = f.place
  order by f.score desc, c.item, c.place limit most
$function$
CREATE OR REPLACE FUNCTION public.match_vectors(of_tenant uuid, of_items text[], of_session uuid, of_model text, question real[], depth integer)
 RETURNS TABLE(item text, place integer, rank bigint)
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return query execute format($sql$
    select n.item, n.place, row_number() over (order by n.distance, n.item, n.place)
    from (
      select c.item, c.place, v.vector::vector(%1$s) <#> $5::vector(%1$s) as distance
      from memory_vectors v join memory_chunks c on c.tenant_id = v.tenant_id
        and c.digest = v.digest
      where v.tenant_id = $1 and v.model = $4 and v.dimensions = %1$s
        and ($2 is null or c.item = any ($2))
        and ($3 is null or exists (select from memory_items i
          where i.tenant_id = $1 and i.session_id = $3 and i.item = c.item))
      order by v.vector::vector(%1$s) <#> $5::vector(%1$s), c.item, c.place limit $6
    ) as n where n.distance < 0
    $sql$, cardinality(question))
  using of_tenant, of_items, of_session, of_model, question, depth;
end
$function$
CREATE OR REPLACE FUNCTION public.match_words(of_tenant uuid, of_items text[], of_session uuid, question text[], depth integer)
 RETURNS TABLE(item text, place integer, rank bigint)
 LANGUAGE sql
 STABLE
AS $function$
  with within as (
    select c.item, c.place, c.words, c.size from memory_chunks c
    where c.tenant_id = of_tenant and (of_items is null or c.item = any (of_items))
      and (of_session is null or exists (select from memory_items i
        where i.tenant_id = of_tenant and i.session_id = of_session and i.item = c.item))
  ), overall as (
    select count(*)::float8 as chunks, greatest(1, avg(w.size))::float8 as mean from within w
  ), hits as (
    select w.item, w.place, w.size, u.lexeme, cardinality(u.positions) as times
    from within w cross join lateral unnest(w.words) as u
    where w.words @@ (select string_agg(format('%L', word), ' | ')::tsquery
        from unnest(question) as word)
      and u.lexeme = any (question)
  ), rarities as (
    select h.lexeme, ln(1 + (o.chunks - count(*) + 0.5) / (count(*) + 0.5)) as rarity
    from hits h cross join overall o group by h.lexeme, o.chunks
  ), scored as (
    select h.item, h.place, sum(r.rarity * h.times * 2.2
      / (h.times + 1.2 * (0.25 + 0.75 * h.size / o.mean))) as score
    from hits h join rarities r using (lexeme) cross join overall o group by h.item, h.place
  )
  select s.item, s.place, row_number() over (order by s.score desc, s.item, s.place)
  from scored s order by 3 limit depth
$function$
CREATE OR REPLACE FUNCTION public.may_follow(from_status text, to_status text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE from_status WHEN 'pending'::text THEN (to_status = ANY (ARRAY['processing'::text, 'cancelled'::text, 'failed'::text])) WHEN 'retrying'::text THEN (to_status = ANY (ARRAY['processing'::text, 'cancelled'::text, 'failed'::text])) WHEN 'pending_next_step'::text THEN (to_status = ANY (ARRAY['processing'::text, 'cancelled'::text, 'failed'::text])) WHEN 'pending_continuation'::text THEN (to_status = ANY (ARRAY['processing'::text, 'cancelled'::text, 'failed'::text])) WHEN 'processing'::text THEN (to_status = ANY (ARRAY['waiting_for_children'::text, 'waiting_for_lanes'::text, 'retrying'::text, 'pending'::text, 'pending_next_step'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])) WHEN 'waiting_for_children'::text THEN (to_status = ANY (ARRAY['pending_next_step'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])) WHEN 'waiting_for_lanes'::text THEN (to_status = ANY (ARRAY['pending_next_step'::text, 'cancelled'::text, 'failed'::text])) WHEN 'waiting_for_prerequisite'::text THEN (to_status = ANY (ARRAY['pending'::text, 'cancelled'::text, 'failed'::text])) WHEN 'completed'::text THEN (to_status = 'superseded'::text) WHEN 'failed'::text THEN (to_status = ANY (ARRAY['pending'::text, 'waiting_for_children'::text, 'waiting_for_prerequisite'::text])) WHEN 'cancelled'::text THEN (to_status = ANY (ARRAY['pending'::text, 'waiting_for_children'::text, 'waiting_for_prerequisite'::text])) ELSE false END
CREATE OR REPLACE FUNCTION public.move_funds(of_tenant uuid, of_key text, of_kind text, of_content text, wallet uuid, of_currency text, amount bigint, about jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  made bigint;
begin
  insert into postings (tenant_id, key, kind, content, details)
  values (of_tenant, of_key, of_kind, of_content, about) returning id into made;
  perform book(of_tenant, array[made, made],
    array[wallet, open_account(of_tenant, 'platform', '', of_currency, true)],
    array[amount, -amount]);
  return made;
end
$function$
CREATE OR REPLACE FUNCTION public.note_requests(calls uuid[], chains uuid[], parts jsonb[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  begun int[] := '{}';
begin
  perform keep_texts();
  for at in 1..cardinality(calls) loop
    begun := begun || begin_with_last(calls[at], chains[at], parts[at]);
  end loop;
  insert into call_parts (tenant_id, call_id, ordinal, role, blob_hash)
  select current_tenant(), c.id, p.ordinal - 1, p.part ->> 0, p.part ->> 1
  from unnest(calls, parts, begun) as c (id, parts, begun)
  cross join lateral jsonb_array_elements(c.parts) with ordinality as p (part, ordinal)
  where p.ordinal > c.begun;
end
$function$
CREATE OR REPLACE FUNCTION public.notify_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('dialectic.quiet', true) is distinct from 'on' then
    perform pg_notify('dialectic_events', '');
  end if;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.open_account(of_tenant uuid, of_kind text, of_owner text, of_currency text, without_limit boolean)
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
declare
  found_id uuid;
begin
  loop
    select a.id into found_id from accounts a where a.tenant_id = of_tenant and a.kind = of_kind
      and a.owner = of_owner and a.currency = of_currency;
    if found then
      return found_id;
    end if;
    insert into accounts (tenant_id, kind, owner, currency, unlimited)
    values (of_tenant, of_kind, of_owner, of_currency, without_limit) on conflict do nothing;
  end loop;
end
$function$
CREATE OR REPLACE PROCEDURE public.open_table(IN table_name text, IN to_role text, IN privileges text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format(
    'create policy %I on %I for all to %I using (true) with check (true)',
    substring(to_role from 'worker|auth') || '_all', table_name, to_role
  );
  execute format('grant %s on %I to %I', privileges, table_name, to_role);
end
$procedure$
CREATE OR REPLACE PROCEDURE public.open_to_ledger(IN table_name text, IN privileges text)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format(
    'create policy ledger_of_tenant on %I for all to %I '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name, ledger_owner()
  );
  if ledger_owner() = 'dialectic_ledger' then
    execute format('grant %s on %I to dialectic_ledger', privileges, table_name);
  end if;
end
$procedure$
CREATE OR REPLACE FUNCTION public.post_call(of_tenant uuid, of_call uuid, of_purpose text, cost_usd bigint, cost_tokens bigint, is_estimated boolean, about jsonb)
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select (post_calls(of_tenant, array[of_call], array[of_purpose], array[cost_usd],
    array[cost_tokens], array[is_estimated], array[about]))[1]
$function$
CREATE OR REPLACE FUNCTION public.post_calls(of_tenant uuid, calls uuid[], purposes text[], costs_usd bigint[], costs_tokens bigint[], estimates boolean[], abouts jsonb[])
 RETURNS bigint[]
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  places bigint[];
  closed holds[];
  due_usd bigint[];
  due_tokens bigint[];
  made bigint[];
  posted bigint[];
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A cost', variadic costs_usd || costs_tokens);
  posted := array_fill(null::bigint, array[cardinality(calls)]);
  perform lock_payers_of(of_tenant, calls, purposes);
  with asked as (
    select distinct on (a.call_id, a.purpose) a.* from unnest(calls, purposes) with ordinality
      as a (call_id, purpose, place)
    order by a.call_id, a.purpose, a.place
  ), ended as (
    update holds h set status = 'posted', settled_at = app_now() from asked a
    where h.tenant_id = of_tenant and h.call_id = any (calls) and h.status = 'held'
      and h.call_id = a.call_id and h.purpose = a.purpose
    returning a.place, h as hold)
  select array_agg(e.place order by e.place), array_agg(e.hold order by e.place),
    array_agg(costs_usd[e.place] order by e.place), array_agg(costs_tokens[e.place] order by e.place)
  into places, closed, due_usd, due_tokens from ended e;
  if closed is not null then
    perform release_holds(of_tenant, closed, due_usd, due_tokens);
    with posting as (
      insert into postings (tenant_id, key, kind, content, session_id, call_id, estimated, details)
      select of_tenant, h.call_id || '/' || h.purpose, 'call',
        posting_content(due_usd[h.ordinality], due_tokens[h.ordinality],
          estimates[places[h.ordinality]]),
        h.session_id, h.call_id, estimates[places[h.ordinality]], abouts[places[h.ordinality]]
      from unnest(closed) with ordinality as h order by h.ordinality
      returning id)
    select array_agg(p.id order by p.id) into made from posting p;
    perform charge(of_tenant, closed, made, due_usd, due_tokens);
  end if;
  for nth in 1 .. cardinality(calls) loop
    posted[nth] := coalesce(made[array_position(places, nth::bigint)],
      posted_before(of_tenant, calls[nth], purposes[nth],
        posting_content(costs_usd[nth], costs_tokens[nth], estimates[nth])));
  end loop;
  return posted;
end
$function$
CREATE OR REPLACE FUNCTION public.posted_before(of_tenant uuid, of_call uuid, of_purpose text, of_content text)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  hold holds := lock_hold(of_tenant, of_call, of_purpose);
begin
  if hold.status <> 'posted' then
    raise exception 'the hold of call % is %', of_call, hold.status
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  return replayed_posting(of_tenant, of_call || '/' || of_purpose, of_content);
end
$function$
CREATE OR REPLACE FUNCTION public.posting_content(usd bigint, tokens bigint, is_estimated boolean)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$ select concat_ws('/', usd, tokens, is_estimated) $function$
CREATE OR REPLACE FUNCTION public.refund_call(of_tenant uuid, of_key text, of_posting bigint, back_usd bigint, back_tokens bigint, about jsonb)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  of_content text;
  made bigint;
  charged record;
  side record;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A refund', variadic array[back_usd, back_tokens]);
  of_content := concat_ws('/', 'refund', of_posting, back_usd, back_tokens);
  perform 1 from accounts a where a.tenant_id = of_tenant and a.kind in ('user', 'project')
    and a.id in (select e.account_id from entries e
      where e.tenant_id = of_tenant and e.posting_id = of_posting)
  order by a.currency = 'token' for update;
  made := replayed_posting(of_tenant, of_key, of_content);
  if made is not null then
    return made;
  end if;
  select p.session_id, h.provider into charged from postings p
  join holds h on h.tenant_id = of_tenant and p.key = h.call_id || '/' || h.purpose
    and h.call_id = p.call_id
  where p.tenant_id = of_tenant and p.id = of_posting and p.kind = 'call';
  if not found then
    raise exception 'no call was posted as %', of_posting using errcode = 'DX000', hint = 'not_found';
  end if;
  perform lock_budgets(of_tenant, charged.session_id);
  insert into postings (tenant_id, key, kind, content, session_id, refunds, details)
  values (of_tenant, of_key, 'refund', of_content, charged.session_id, of_posting, about)
  returning id into made;
  for side in
    select back.currency, back.amount, (
      select a.id from entries e join accounts a on a.tenant_id = of_tenant and a.id = e.account_id
      where e.tenant_id = of_tenant and e.posting_id = of_posting and e.currency = back.currency
        and a.kind in ('user', 'project')) as payer
    from (values ('USD', back_usd), ('token', back_tokens)) as back (currency, amount)
    where back.amount > 0
  loop
    if side.payer is null or side.amount > coalesce((select -sum(e.amount) from entries e
      join postings p on p.tenant_id = of_tenant and p.id = e.posting_id
      where e.tenant_id = of_tenant and (p.id = of_posting or p.refunds = of_posting)
        and e.account_id = side.payer), 0)
    then
      raise exception 'more than was paid cannot be given back'
        using errcode = 'DX000', hint = 'refund_too_large';
    end if;
    perform book(of_tenant, array[made, made], array[side.payer,
      open_account(of_tenant, 'provider', charged.provider, side.currency, true)],
      array[side.amount, -side.amount]);
  end loop;
  perform add_to_budgets(of_tenant, charged.session_id, 0, 0, -back_usd, -back_tokens);
  return made;
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_cancelled()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.status <> new.status and not may_follow(old.status, new.status) then
    perform refuse_transition(old.status, new.status);
  end if;
  return new;
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and current_user = (select pg_get_userbyid(p.proowner) from pg_proc p
    where p.oid = 'erase_project(uuid, uuid)'::regprocedure)
  then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name
    using errcode = 'DX000', hint = 'access_denied';
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_deletion_of_busy_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from old_rows o cross join lateral (
    select from jobs j where j.tenant_id = o.tenant_id and j.session_id = o.id limit 1) as j)
  then
    raise exception 'a session that has jobs cannot be deleted' using errcode = '23503';
  end if;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_lease(of_job uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'Job % is no longer held by this worker.', of_job
    using errcode = 'DX000', hint = 'lease_lost';
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% on % is refused: what was posted stays', tg_op, tg_table_name
    using errcode = 'DX000', hint = 'ledger_append_only';
end
$function$
CREATE OR REPLACE FUNCTION public.refuse_transition(from_status text, to_status text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  raise exception 'a job that is % cannot become %', from_status, to_status
    using errcode = 'DX000', hint = 'job_transition_refused';
end
$function$
CREATE OR REPLACE FUNCTION public.release_holds(of_tenant uuid, released holds[], costs_usd bigint[], costs_tokens bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  home record;
begin
  update accounts a set held = a.held - r.amount
  from (
    select k.payer_id, sum(k.amount) as amount from unnest(released) as h
    cross join lateral (values (h.usd_account_id, h.usd), (h.token_account_id, h.tokens))
      as k (payer_id, amount)
    group by k.payer_id) as r
  where a.tenant_id = of_tenant and a.id = r.payer_id;
  if exists (select from budgets b where b.tenant_id = of_tenant) then
    for home in
      select h.session_id, sum(h.usd)::bigint as usd, sum(h.tokens)::bigint as tokens,
        sum(costs_usd[h.ordinality])::bigint as cost_usd,
        sum(costs_tokens[h.ordinality])::bigint as cost_tokens
      from unnest(released) with ordinality as h group by h.session_id order by h.session_id
    loop
      perform lock_budgets(of_tenant, home.session_id);
      perform add_to_budgets(of_tenant, home.session_id, -home.usd, -home.tokens, home.cost_usd,
        home.cost_tokens);
    end loop;
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.remove_limit(of_tenant uuid, of_kind text, of_owner text, of_currency text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform require_tenant(of_tenant);
  perform open_account(of_tenant, of_kind, of_owner, of_currency, true);
  update accounts a set unlimited = true where a.tenant_id = of_tenant and a.kind = of_kind
    and a.owner = of_owner and a.currency = of_currency;
end
$function$
CREATE OR REPLACE FUNCTION public.replayed_posting(of_tenant uuid, of_key text, of_content text)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  known record;
begin
  select p.id, p.content into known from postings p where p.tenant_id = of_tenant and p.key = of_key;
  if known.content <> of_content then
    raise exception 'the key % already stands for another posting', of_key
      using errcode = 'DX000', hint = 'idempotency_mismatch';
  end if;
  return known.id;
end
$function$
CREATE OR REPLACE FUNCTION public.request_parts(of_call uuid)
 RETURNS TABLE(ordinal integer, role text, blob_hash text)
 LANGUAGE sql
 STABLE
AS $function$
  with recursive begun as (
    select c.tenant_id, c.id, c.begins_with from model_calls c
    where c.tenant_id = current_tenant() and c.id = of_call
    union all
    select c.tenant_id, c.id, c.begins_with from model_calls c
    join begun b on c.tenant_id = b.tenant_id and c.id = b.begins_with)
  select p.ordinal, p.role, p.blob_hash from begun b
  join call_parts p on p.tenant_id = b.tenant_id and p.call_id = b.id
  order by p.ordinal
$function$
CREATE OR REPLACE FUNCTION public.requeue_abandoned(by_worker uuid, look_for_locks boolean, most integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  gone uuid[];
  tokens uuid[];
begin
  if look_for_locks then
    select array_agg(w.worker_id) into gone from (
      select distinct j.worker_id from jobs j
      where j.status = 'processing' and j.worker_id <> by_worker) as w
    where pg_try_advisory_xact_lock(hashtextextended(w.worker_id::text, 0));
  end if;
  tokens := array(select j.lease_token from jobs j where j.status = 'processing'
    and (j.lease_until < app_now() or j.worker_id = any (gone)));
  return case when tokens = '{}' then 0 else take_over(tokens, most) end;
end
$function$
CREATE OR REPLACE FUNCTION public.require_funds(calls uuid[], purposes text[], sessions uuid[], providers text[], worst_usd bigint[], worst_tokens bigint[], in_usd bigint[], in_tokens bigint[], automatic boolean[], prices jsonb[])
 RETURNS TABLE(call_id uuid, usd_left bigint, tokens_left bigint)
 LANGUAGE plpgsql
AS $function$
declare
  held record;
begin
  if sessions[1] = all (sessions) and hold_unlimited(current_tenant(), calls, purposes, sessions[1],
    providers, worst_usd, worst_tokens, in_usd, in_tokens, prices)
  then
    return query select c.id, null::bigint, null::bigint from unnest(calls) as c (id);
    return;
  end if;
  for at in 1..cardinality(calls) loop
    select h.* into held from hold_funds(current_tenant(), calls[at], purposes[at], sessions[at],
      providers[at], worst_usd[at], worst_tokens[at], in_usd[at], in_tokens[at], automatic[at],
      prices[at]) as h;
    if held.outcome <> 'held' or (prices[at] is null and held.usd_left is not null) then
      raise exception 'nothing is held for call %: %', calls[at], held.outcome
        using errcode = 'DX001',
        detail = json_build_object('outcome', held.outcome, 'usdLeft', held.usd_left,
          'tokensLeft', held.tokens_left, 'shortScope', held.short_scope,
          'shortCurrency', held.short_currency);
    end if;
    call_id := calls[at];
    usd_left := held.usd_left;
    tokens_left := held.tokens_left;
    return next;
  end loop;
end
$function$
CREATE OR REPLACE FUNCTION public.require_leases(ids uuid[], tokens uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  lost uuid;
begin
  with held as (
    select j.id from jobs j
    where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens)
      and j.status = 'processing'
    order by j.seq desc for share)
  select l.id into lost from unnest(ids) as l (id)
  where l.id not in (select h.id from held h) limit 1;
  if found then
    perform refuse_lease(lost);
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.require_tenant(of_tenant uuid)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if current_setting('role') <> 'dialectic_app' or of_tenant is distinct from current_tenant() then
    raise exception 'Only a transaction of the tenant itself may do this.'
      using errcode = 'DX000', hint = 'access_denied';
  end if;
end
$function$
CREATE OR REPLACE FUNCTION public.set_budget(of_tenant uuid, of_scope text, of_owner uuid, of_currency text, of_amount bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform require_tenant(of_tenant);
  perform check_amounts('The budget', variadic array[of_amount]);
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  perform lock_wallets(of_tenant);
  if of_amount is null then
    delete from budgets b where b.tenant_id = of_tenant and b.scope = of_scope
      and b.owner_id = of_owner and b.currency = of_currency;
    return;
  end if;
  insert into budgets (tenant_id, scope, owner_id, currency, amount, spent, held)
  select of_tenant, of_scope, of_owner, of_currency, of_amount,
    (select coalesce(sum(e.amount), 0) from postings p
     join entries e on e.tenant_id = of_tenant and e.posting_id = p.id and e.currency = of_currency
     join accounts a on a.tenant_id = of_tenant and a.id = e.account_id and a.kind = 'provider'
     where p.tenant_id = of_tenant and is_within(of_tenant, p.session_id, of_scope, of_owner)),
    (select coalesce(sum(case of_currency when 'USD' then h.usd else h.tokens end), 0) from holds h
     where h.tenant_id = of_tenant and h.status = 'held'
       and is_within(of_tenant, h.session_id, of_scope, of_owner))
  on conflict (tenant_id, scope, owner_id, currency) do update set amount = excluded.amount;
end
$function$
CREATE OR REPLACE FUNCTION public.set_spending_share(of_tenant uuid, share double precision)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform require_tenant(of_tenant);
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  update accounts a set spending_share = share
  where a.tenant_id = of_tenant and a.kind in ('user', 'project');
end
$function$
CREATE OR REPLACE FUNCTION public.settle_lanes(ended job_end[], tenants uuid[], runs uuid[], has_lanes boolean, has_losses boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$
CREATE OR REPLACE FUNCTION public.settle_left_holds(of_tenant uuid)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  wallets uuid[];
  h record;
  tokens_out bigint;
  cost bigint;
  settled int;
begin
  perform require_tenant(of_tenant);
  settled := 0;
  select array_agg(w.id) into wallets from (
    select a.id from accounts a where a.tenant_id = of_tenant and exists (
      select from holds l join model_calls c on c.tenant_id = of_tenant and c.id = l.call_id
      join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
      where l.tenant_id = of_tenant and l.status = 'held' and is_over(j.status)
        and a.id in (l.usd_account_id, l.token_account_id))
    order by a.currency = 'token', a.kind, a.owner for update skip locked) as w;
  for h in
    select l.*, c.model, (select coalesce(sum(length(p.body)), 0) from call_pieces p
      where p.tenant_id = of_tenant and p.call_id = l.call_id) as chars
    from holds l join model_calls c on c.tenant_id = of_tenant and c.id = l.call_id
    join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
    where l.tenant_id = of_tenant and l.status = 'held' and is_over(j.status)
      and l.usd_account_id = any (wallets) and l.token_account_id = any (wallets)
    order by l.provider, l.call_id
  loop
    tokens_out := least((h.chars + 3) / 4, h.tokens - h.input_tokens);
    cost := h.input_usd + case when tokens_out = 0 then 0
      else ceil((h.usd - h.input_usd)::numeric * tokens_out / (h.tokens - h.input_tokens)) end;
    update model_calls c set finished_at = app_now(), usage_estimated = h.chars > 0,
      status = case when h.chars > 0 then 'cut' else 'failed' end,
      input_tokens = case when h.chars > 0 then h.input_tokens end,
      output_tokens = case when h.chars > 0 then tokens_out end,
      cost_micros = case when h.chars > 0 then cost else 0 end,
      error = '{"code": "lease_lost", "message": "The worker ended before the answer arrived."}'
    where c.tenant_id = of_tenant and c.id = h.call_id and c.status = 'sent';
    if h.chars > 0 then
      perform post_call(of_tenant, h.call_id, h.purpose, cost, h.input_tokens + tokens_out, true,
        jsonb_build_object('model', h.model, 'price', h.price, 'responseId', null,
          'usage', jsonb_build_object('inputTokens', h.input_tokens, 'outputTokens', tokens_out,
            'cachedInputTokens', 0, 'cacheWriteTokens', 0, 'estimated', true)));
    else
      perform close_hold(of_tenant, h.call_id, h.purpose, 'expired');
    end if;
    delete from call_pieces p where p.tenant_id = of_tenant and p.call_id = h.call_id;
    settled := settled + 1;
  end loop;
  return settled;
end
$function$
CREATE OR REPLACE FUNCTION public.settle_stages(tenants uuid[], runs uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
$function$
CREATE OR REPLACE FUNCTION public.short_error(error jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (error IS NOT NULL) THEN jsonb_build_object('code', (error -> 'code'::text), 'message', (error -> 'message'::text)) ELSE NULL::jsonb END
CREATE OR REPLACE FUNCTION public.suspend_held_jobs(ids uuid[], tokens uuid[], ends_alone boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  update jobs j set status = 'waiting_for_children', ends_with_children = ends_alone,
    continued = false, attempt = 0, takeovers = 0, error = null, finished_at = null,
    run_after = app_now(), committed_token = j.lease_token,
    worker_id = null, lease_token = null, lease_until = null
  where j.tenant_id = current_tenant() and j.id = any (ids) and j.lease_token = any (tokens);
end
$function$
CREATE OR REPLACE FUNCTION public.take_over(tokens uuid[], most integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  taken bigint;
begin
  perform 1 from stage_runs r where (r.tenant_id, r.id) in (
      select j.tenant_id, j.stage_run_id from jobs j
      where j.status = 'processing' and j.lease_token = any (tokens) and j.takeovers >= most)
    order by r.id for no key update;

  with locked as (
    select j.tenant_id, j.id, j.seq, least(j.takeovers, 2147483646) as takeovers from jobs j
    where j.status = 'processing' and j.lease_token = any (tokens)
    order by j.seq for update skip locked
  ), ranked as (
    select l.tenant_id, l.id, l.takeovers >= most as fails, l.takeovers + 1 as takeovers,
      case when l.takeovers < 5 then 0 else least(60, (l.takeovers - 4)
        * count(*) filter (where l.takeovers >= 5) over (order by l.seq)) end as rest_s
    from locked l
  ), changed as (
    update jobs j set status = case when r.fails then 'failed' else 'pending' end,
      takeovers = r.takeovers, worker_id = null, lease_token = null, lease_until = null,
      run_after = app_now() + r.rest_s * interval '1 second',
      finished_at = case when r.fails then app_now() end,
      error = case when r.fails then jsonb_build_object('code', 'takeovers_exhausted',
        'message', format('%s workers in a row died or lost their lease while they ran this job.',
          r.takeovers),
        'details', jsonb_build_object('takeovers', r.takeovers)) else j.error end
    from ranked r where j.tenant_id = r.tenant_id and j.id = r.id
    returning 1
  )
  select count(*) into taken from changed;
  return taken;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_call_ends()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, 'call-ended',
    j.about || jsonb_build_object('callId', n.id,
      'model', n.model, 'purpose', n.purpose, 'outcome', n.status,
      'inputTokens', coalesce(n.input_tokens, 0), 'outputTokens', coalesce(n.output_tokens, 0),
      'costMicros', n.cost_micros)
  from new_rows n join old_rows o on o.tenant_id = n.tenant_id and o.id = n.id
  cross join lateral describe_jobs(n.tenant_id, n.job_id) as j (about)
  where o.status = 'sent' and n.status <> 'sent' and was_sent(n.error)
  order by n.id;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_contributions()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, 'contribution-received',
    j.about || jsonb_build_object('contributionId', n.id, 'ordinal', n.ordinal,
      'finishReason', n.finish_reason)
  from new_rows n cross join lateral describe_jobs(n.tenant_id, n.job_id) as j (about)
  order by n.id;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_documents()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
declare
  rendered uuid[];
begin
  if tg_op = 'UPDATE' then
    rendered := array(select n.id from new_rows n
      join old_rows o on o.tenant_id = n.tenant_id and o.id = n.id
      where n.markdown_hash is not null and o.markdown_hash is distinct from n.markdown_hash);
  end if;
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, k.kind,
    jsonb_build_object('documentId', n.id, 'documentKind', n.kind,
      'documentKey', n.document_key, 'version', n.version, 'stage', n.stage_key,
      'iteration', n.iteration, 'step', n.step_key, 'laneId', n.lane_id, 'jobId', n.job_id,
      'lane', l.ordinal, 'model', l.model)
  from new_rows n
  cross join unnest(case
    when tg_op = 'UPDATE' and n.id <> all (rendered) then '{}'
    when tg_op = 'UPDATE' then array['document-rendered']
    when n.markdown_hash is null or n.kind = 'seed_prompt' then array['document-created']
    else array['document-created', 'document-rendered'] end) with ordinality as k (kind, place)
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = n.tenant_id and a.id = n.lane_id limit 1) as l on true
  order by n.id, k.place;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_job_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_nestloop TO 'off'
AS $function$
begin
  insert into events (tenant_id, topic, kind, payload)
  select g.tenant_id, 'session/' || g.session_id, g.kind, jsonb_build_object(
    'status', g.status, 'type', g.job_type, 'stage', r.stage_key, 'iteration', r.iteration,
    'laneId', g.lane_id, 'lane', l.ordinal, 'model', l.model, 'step', g.step_key,
    'documentKey', null, 'each', g.each)
  from (
    select n.tenant_id, n.session_id, n.kind, n.status, n.job_type, n.stage_run_id, n.lane_id,
      n.step_key, min(n.seq) as seq, jsonb_agg(job_event_entry(n.id, n.chain_id, n.document_key,
        n.status, n.error, n.attempt, n.run_after) order by n.seq) as each
    from (
      select c.*, case when may_follow(o.status, c.status)
        then job_event_kind(o.status, c.status, c.continued)
        else refuse_transition(o.status, c.status) end as kind
      from new_rows c join old_rows o on o.tenant_id = c.tenant_id and o.id = c.id
      where c.status <> o.status
    ) as n
    group by n.tenant_id, n.session_id, n.kind, n.status, n.job_type, n.stage_run_id, n.lane_id,
      n.step_key
  ) as g
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = g.tenant_id and s.id = g.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = g.tenant_id and a.id = g.lane_id limit 1) as l on true
  order by g.seq;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_new_jobs()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
begin
  insert into events (tenant_id, topic, kind, payload)
  select g.tenant_id, 'session/' || g.session_id, 'job-created', jsonb_build_object(
    'status', g.status, 'type', g.job_type, 'stage', r.stage_key, 'iteration', r.iteration,
    'laneId', g.lane_id, 'lane', l.ordinal, 'model', l.model, 'step', g.step_key,
    'documentKey', null, 'each', g.each)
  from (
    select n.tenant_id, n.session_id, n.status, n.job_type, n.stage_run_id, n.lane_id, n.step_key,
      min(n.seq) as seq, jsonb_agg(job_event_entry(n.id, n.chain_id, n.document_key,
        n.status, n.error, n.attempt, n.run_after) order by n.seq) as each
    from new_rows n
    group by n.tenant_id, n.session_id, n.status, n.job_type, n.stage_run_id, n.lane_id, n.step_key
  ) as g
  left join lateral (select s.stage_key, s.iteration from stage_runs s
    where s.tenant_id = g.tenant_id and s.id = g.stage_run_id limit 1) as r on true
  left join lateral (select a.ordinal, a.model from lanes a
    where a.tenant_id = g.tenant_id and a.id = g.lane_id limit 1) as l on true
  order by g.seq;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_session(of_tenant uuid, of_session uuid, of_kind text, payload jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into events (tenant_id, topic, kind, payload)
  values (of_tenant, 'session/' || of_session, of_kind, payload)
$function$
CREATE OR REPLACE FUNCTION public.tell_session_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  of_iteration jsonb := jsonb_build_object('iteration', new.iteration);
  gate text;
begin
  if tg_op = 'INSERT' or old.status <> new.status then
    perform tell_session(new.tenant_id, new.id,
      case
        when new.status = 'draft' then 'session-created'
        when new.status = 'awaiting_review' then 'session-paused'
        when new.status <> 'running' then 'session-' || new.status
        when tg_op = 'INSERT' then 'session-started'
        when old.status = 'awaiting_review' then 'session-resumed'
        when old.status = 'completed' then 'session-continued'
        when old.status in ('failed', 'cancelled') then 'session-retried'
        else 'session-started'
      end,
      of_iteration || case
        when new.status = 'awaiting_review'
          then jsonb_build_object('reason', new.awaiting)
        when new.status = 'failed' then jsonb_build_object('error', (
          select short_error(j.error) from jobs j
          where j.tenant_id = new.tenant_id and j.session_id = new.id and j.status = 'failed'
            and j.parent_job_id is null order by j.finished_at desc limit 1))
        when tg_op = 'UPDATE' and old.status = 'awaiting_review' and new.status = 'running'
          then jsonb_build_object('reason', old.awaiting)
        else '{}'
      end);
  end if;
  if tg_op = 'INSERT' then
    return null;
  end if;
  foreach gate in array new.gates loop
    continue when gate = any (old.gates);
    perform tell_session(new.tenant_id, new.id, 'session-paused', of_iteration
      || jsonb_build_object('reason', gate));
    if gate = 'budget' then
      perform tell_session(new.tenant_id, new.id, 'budget-reached', of_iteration
        || jsonb_build_object('scope', new.shortages->gate->'scope',
          'currency', new.shortages->gate->'currency'));
    end if;
  end loop;
  foreach gate in array old.gates loop
    -- Gates that go away because the session ends resume nothing.
    continue when gate = any (new.gates)
      or (old.status <> new.status and new.status in ('completed', 'failed', 'cancelled'));
    perform tell_session(new.tenant_id, new.id, 'session-resumed', of_iteration
      || jsonb_build_object('reason', gate));
  end loop;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_stage()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  verb text := new.state;
begin
  if new.state = 'running' then
    verb := case tg_op when 'INSERT' then 'started' else 'retried' end;
  end if;
  perform tell_session(new.tenant_id, new.session_id, 'stage-' || verb,
    jsonb_build_object('stage', new.stage_key, 'iteration', new.iteration,
      'degraded', new.degraded));
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  verb text := new.state;
begin
  if new.state = 'running' then
    verb := 'started';
    if tg_op = 'UPDATE' and old.state = 'failed' then
      verb := 'retried';
    end if;
  end if;
  insert into events (tenant_id, topic, kind, payload)
  select new.tenant_id, 'session/' || r.session_id,
    case when new.step_key = '*' then 'lane-' else 'step-' end || verb,
    jsonb_build_object('stage', r.stage_key, 'iteration', r.iteration, 'laneId', new.lane_id,
      'degraded', new.degraded, 'lane', l.ordinal, 'model', l.model)
    || case when new.step_key = '*' then '{}' else jsonb_build_object('step', new.step_key) end
    || case when new.state <> 'failed' then '{}' else jsonb_build_object('error', (
      select short_error(j.error) from jobs j
      where j.tenant_id = new.tenant_id and j.session_id = r.session_id
        and j.stage_run_id = new.stage_run_id and j.lane_id = new.lane_id
        and j.step_key is not distinct from nullif(new.step_key, '*')
        and j.counts and j.status in ('failed', 'cancelled')
      order by j.finished_at limit 1)) end
  from stage_runs r
  left join lanes l on l.tenant_id = r.tenant_id and l.id = new.lane_id
  where r.tenant_id = new.tenant_id and r.id = new.stage_run_id;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.tell_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into events (tenant_id, topic, kind, payload)
  select c.tenant_id, 'session/' || c.session_id, 'text-saved',
    j.about || jsonb_build_object('callId', c.id, 'model', c.model, 'seq', new.seq,
      'characters', length(new.body))
  from model_calls c cross join lateral describe_jobs(c.tenant_id, c.job_id) as j (about)
  where c.tenant_id = new.tenant_id and c.id = new.call_id;
  return null;
end
$function$
CREATE OR REPLACE FUNCTION public.texts_of(of_tenant uuid, of_project uuid, of_sessions uuid[])
 RETURNS text[]
 LANGUAGE sql
 STABLE
AS $function$
  select array_agg(t.hash) from (
    select p.brief_hash as hash from projects p where p.tenant_id = of_tenant and p.id = of_project
    union select r.blob_hash from resources r
      where r.tenant_id = of_tenant and r.project_id = of_project
    union select x.blob_hash from source_excerpts x
      where x.tenant_id = of_tenant and x.project_id = of_project
    union select c.blob_hash from contributions c
      where c.tenant_id = of_tenant and c.session_id = any (of_sessions)
    union select unnest(array[d.markdown_hash, d.body_hash]) from documents d
      where d.tenant_id = of_tenant and d.session_id = any (of_sessions)
    union select m.request_hash from model_calls m
      where m.tenant_id = of_tenant and m.session_id = any (of_sessions)
    union select q.blob_hash from call_parts q
      join model_calls m on m.tenant_id = q.tenant_id and m.id = q.call_id
      where m.tenant_id = of_tenant and m.session_id = any (of_sessions)) as t
$function$
CREATE OR REPLACE FUNCTION public.waits_for_itself(added job_wait[])
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  with recursive above (child, tenant_id, id) as (
    select n.id, n.tenant_id, n.parent_job_id from unnest(added) as n
    union
    select a.child, p.tenant_id, p.parent_job_id from above a
    join jobs p on p.tenant_id = a.tenant_id and p.id = a.id where p.parent_job_id is not null
  ), before (child, tenant_id, id) as (
    select n.id, n.tenant_id, n.prerequisite_job_id from unnest(added) as n
    union
    select b.child, p.tenant_id, p.prerequisite_job_id from before b
    join jobs p on p.tenant_id = b.tenant_id and p.id = b.id
    where p.status = 'waiting_for_prerequisite'
  )
  select exists (
    select from above a
    join jobs p on p.tenant_id = a.tenant_id and p.id = a.id and not is_over(p.status)
    join before b on b.child = a.child and b.tenant_id = p.tenant_id and b.id = p.chain_id)
$function$
CREATE OR REPLACE FUNCTION public.wake_parents(tenants uuid[], parents uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  whole tid[];
  lossy job_place[];
  one job_place;
begin
  select array_agg(w.place) filter (where not w.lost),
    array_agg(row(w.tenant_id, w.id)::job_place) filter (where w.lost)
  into whole, lossy
  from (
    select p.tenant_id, p.id, p.ctid as place, (
      select true from jobs c where c.tenant_id = p.tenant_id and c.parent_job_id = p.id
        and c.counts and c.status in ('failed', 'cancelled') limit 1) is not null as lost
    from jobs p
    where p.tenant_id = any (tenants) and p.id = any (parents)
      and p.status = 'waiting_for_children' and (
        select true from jobs c where c.tenant_id = p.tenant_id and c.parent_job_id = p.id
          and c.counts and is_open(c.status) limit 1) is null
    offset 0
  ) as w;

  if whole is not null then
    update jobs p set
      status = case when p.ends_with_children then 'completed' else 'pending_next_step' end,
      finished_at = case when p.ends_with_children then app_now() end,
      run_after = app_now(), error = null
    where p.ctid = any (whole);
  end if;
  foreach one in array coalesce(lossy, '{}') loop
    perform wake_with_losses(one.tenant_id, one.id);
  end loop;
end
$function$
CREATE OR REPLACE FUNCTION public.wake_waiters(ended job_end[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update lane_steps l set state = 'running'
  from unnest(ended) as e
  join jobs w on w.tenant_id = e.tenant_id and w.prerequisite_job_id = e.chain_id
    and w.status = 'waiting_for_prerequisite'
  where e.status = 'completed' and l.state = 'waiting' and l.tenant_id = w.tenant_id
    and l.stage_run_id = w.stage_run_id and l.lane_id = w.lane_id and l.step_key = w.step_key;
  update jobs w set
    status = case when e.status = 'completed' then 'pending' else 'failed' end,
    finished_at = case when e.status = 'completed' then null else app_now() end,
    error = case when e.status = 'completed' then w.error
      else jsonb_build_object('code', 'prerequisite_failed',
        'message', 'The job that this one waits for did not succeed.',
        'details', jsonb_build_object('jobId', e.id)) end
  from unnest(ended) as e
  where w.tenant_id = e.tenant_id and w.prerequisite_job_id = e.chain_id
    and w.status = 'waiting_for_prerequisite';
end
$function$
CREATE OR REPLACE FUNCTION public.wake_with_losses(of_tenant uuid, of_parent uuid)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update jobs p set
    status = case when s.missed then 'failed' else 'pending_next_step' end,
    run_after = case when s.missed then p.run_after else app_now() end,
    finished_at = case when s.missed then app_now() end,
    degraded = p.degraded or s.lost,
    error = case when s.missed then jsonb_build_object('code', 'quorum_missed',
      'message', 'Too few jobs of a step succeeded.') end
  from (
    select coalesce(bool_or(g.lost), false) as lost,
      coalesce(bool_or(g.lost and g.succeeded < g.needed), false) as missed
    from children_by_step(of_tenant, of_parent) as g
  ) as s
  where p.tenant_id = of_tenant and p.id = of_parent;
end
$function$
CREATE OR REPLACE FUNCTION public.was_sent(error jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((error IS NULL) OR ((COALESCE((error ->> 'sent'::text), 'true'::text) = 'true'::text) AND (COALESCE((error ->> 'code'::text), ''::text) <> 'provider_circuit_open'::text)))
CREATE OR REPLACE FUNCTION public.weigh_call(of_tenant uuid, of_session uuid, usd accounts, tok accounts, worst_usd bigint, worst_tokens bigint, automatic boolean, OUT outcome text, OUT usd_left bigint, OUT tokens_left bigint, OUT short_scope text, OUT short_currency text)
 RETURNS record
 LANGUAGE sql
AS $function$
  select case
      when bool_or(l.short) then coalesce(min(l.gate) filter (where l.stuck), 'wait')
      when automatic and bool_or(l.needed > l.share * l.available) then 'approval'
    end,
    min(l.available) filter (where l.currency = 'USD'),
    min(l.available) filter (where l.currency = 'token'),
    (array_agg(l.scope order by l.gate, l.scope, l.currency) filter (where l.stuck))[1],
    (array_agg(l.currency order by l.gate, l.scope, l.currency) filter (where l.stuck))[1]
  from (
    select k.*, k.needed > 0 and k.available < k.needed as short,
      -- Asked only where something is short: this is the way of every call.
      case when k.needed > 0 and k.available < k.needed then k.held = 0 or not is_any_moving(
        of_tenant, case k.gate when 'funds' then 'account' else k.scope end, k.owner,
        of_session) end as stuck
    from (
      select 'budget' as gate, b.scope, b.owner_id as owner, b.currency, b.held,
        b.amount - b.spent - b.held as available, null::double precision as share,
        case b.currency when 'USD' then worst_usd else worst_tokens end as needed
      from budgets_of(of_tenant, of_session) as b
      union all
      select 'funds', a.kind, a.id, a.currency, a.held, a.balance - a.held, a.spending_share,
        case a.currency when 'USD' then worst_usd else worst_tokens end
      from unnest(array[usd, tok]) as a where not a.unlimited
    ) as k
  ) as l
$function$
