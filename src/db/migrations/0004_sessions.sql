-- Projects, recipe versions, lanes, documents, feedback: what a session works on and leaves behind.

-- Text by its hash, stored once for each tenant: prompts, answers, documents.
create table blobs (
  tenant_id uuid not null references tenants,
  hash text not null,
  body text not null,
  primary key (tenant_id, hash)
);
call isolate_table('blobs', 'select, insert');

create table projects (
  tenant_id uuid not null references tenants,
  id uuid not null,
  name text not null check (name <> ''),
  domain text,
  brief_hash text not null,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, brief_hash) references blobs
);
call isolate_table('projects', 'select, insert, update');

create table resources (
  tenant_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  kind text not null check (kind <> ''),
  name text not null,
  blob_hash text not null,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, project_id) references projects,
  foreign key (tenant_id, blob_hash) references blobs
);
create index resources_of_project on resources (tenant_id, project_id);
call isolate_table('resources', 'select, insert, delete');

-- Recipes are immutable: a stage is stored once by its hash, a version is a list of stages.
create table recipe_stages (
  tenant_id uuid not null references tenants,
  hash text not null,
  body json not null, -- json keeps the order of sections, jsonb does not
  primary key (tenant_id, hash)
);
call isolate_table('recipe_stages', 'select, insert');

create table recipe_versions (
  tenant_id uuid not null references tenants,
  hash text not null,
  process_key text not null,
  manifest json not null,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, hash)
);
call isolate_table('recipe_versions', 'select, insert');

alter table sessions
  add column project_id uuid,
  add column recipe_hash text,
  add column iteration int not null default 1,
  -- Whether a person looks at every stage before the next begins.
  add column review_stages boolean not null default false,
  -- Whether a stage may be left behind in which a lane failed.
  add column allow_degraded boolean not null default false,
  add column until_stage text,
  add column writer_lane_id uuid,
  add column chosen_lane_id uuid,
  add column chosen_by text check (chosen_by in ('ballots', 'person')),
  add foreign key (tenant_id, project_id) references projects,
  add foreign key (tenant_id, recipe_hash) references recipe_versions;
create index sessions_of_project on sessions (tenant_id, project_id);

create table lanes (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  ordinal int not null check (ordinal > 0),
  model text not null check (model <> ''),
  primary key (tenant_id, id),
  unique (tenant_id, session_id, ordinal),
  foreign key (tenant_id, session_id) references sessions
);
call isolate_table('lanes', 'select, insert');

-- What one model call gave back: an atomic chunk, never appended to. chain_id is the job chain.
create table contributions (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  job_id uuid not null,
  chain_id uuid not null,
  ordinal int not null check (ordinal > 0),
  blob_hash text not null,
  finish_reason text not null,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  unique (tenant_id, chain_id, ordinal),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, job_id) references jobs,
  foreign key (tenant_id, blob_hash) references blobs
);
call isolate_table('contributions', 'select, insert');

-- Versions of documents, header contexts and seed prompts. The current one has no successor.
create table documents (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  kind text not null check (kind in ('document', 'header_context', 'seed_prompt')),
  iteration int not null,
  stage_key text not null,
  step_key text,
  document_key text,
  lane_id uuid,
  -- The place in the debate, the same in every run; orders inputs and joins versions.
  identity text not null,
  version int not null default 1 check (version > 0),
  superseded boolean not null default false,
  job_id uuid,
  -- The first chunk of its chain; anchors and lineages point to it.
  contribution_id uuid,
  source_group uuid,
  anchor_id uuid,
  relationships jsonb not null default '{}',
  -- What it was made from, by the name of the step's input.
  inputs jsonb not null default '[]',
  content json, -- in the order in which it was written
  markdown_hash text,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  unique (tenant_id, session_id, identity, version),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, lane_id) references lanes,
  foreign key (tenant_id, job_id) references jobs,
  foreign key (tenant_id, contribution_id) references contributions,
  foreign key (tenant_id, markdown_hash) references blobs
);
create index documents_current on documents (tenant_id, session_id) where not superseded;
call isolate_table('documents', 'select, insert, update');

-- What people say about a document or a whole stage, and their answers to open questions.
create table feedback (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  iteration int not null,
  stage_key text not null,
  document_id uuid,
  question text,
  body text not null check (body <> ''),
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, document_id) references documents
);
create index feedback_of_session on feedback (tenant_id, session_id);
call isolate_table('feedback', 'select, insert');
