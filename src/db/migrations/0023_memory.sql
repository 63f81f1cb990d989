-- What was embedded and shortened to fit a window, so that the same work is never done twice. Rows
-- belong to the project that used them last and are erased with it.

create table memory_vectors (
  tenant_id uuid not null references tenants,
  -- Of the text that was embedded.
  digest text not null,
  model text not null,
  dimensions int not null check (dimensions > 0),
  -- 32-bit numbers, the lowest byte first.
  vector bytea not null check (octet_length(vector) = 4 * dimensions),
  project_id uuid not null,
  primary key (tenant_id, digest, model),
  foreign key (tenant_id, project_id) references projects (tenant_id, id) on delete cascade
);
call isolate_table('memory_vectors', 'select, insert, update');
create index memory_vectors_of_project on memory_vectors (tenant_id, project_id);

create table memory_shortened (
  tenant_id uuid not null references tenants,
  -- The digest of text, embedding model, prompt and size.
  key text not null,
  body text not null,
  project_id uuid not null,
  primary key (tenant_id, key),
  foreign key (tenant_id, project_id) references projects (tenant_id, id) on delete cascade
);
call isolate_table('memory_shortened', 'select, insert, update');
create index memory_shortened_of_project on memory_shortened (tenant_id, project_id);

-- What was shortened for a call: label, tokens before and after.
alter table model_calls add column shortened json not null default '[]';
