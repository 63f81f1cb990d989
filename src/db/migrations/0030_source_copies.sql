-- The bytes that sources were read from, and how each stood when it was last looked at.

-- Bytes by their SHA-256, each once for a tenant; erase_project deletes what no copy refers to.
create table archived_bytes (
  tenant_id uuid not null references tenants,
  hash text not null,
  body bytea not null,
  primary key (tenant_id, hash)
);
call isolate_table('archived_bytes', 'select, insert');
call open_to_ledger('archived_bytes', 'select, delete');

-- What a file or page held when it was read: one row for each content that was met.
create table source_copies (
  tenant_id uuid not null,
  project_id uuid not null,
  source int not null,
  sha256 text not null,
  media_type text not null,
  size int not null check (size >= 0),
  -- Null where there were more bytes than are kept.
  bytes_hash text check (bytes_hash = sha256),
  fetched_at timestamptz not null default app_now(),
  primary key (tenant_id, project_id, source, sha256),
  foreign key (tenant_id, project_id, source) references sources (tenant_id, project_id, ordinal)
    on delete cascade,
  foreign key (tenant_id, bytes_hash) references archived_bytes
);
call isolate_table('source_copies', 'select, insert');
call open_to_ledger('source_copies', 'select');
create index source_copies_of_bytes on source_copies (tenant_id, bytes_hash);

-- The last look at the page of a source: when, what was found, and reason, new address or likeness.
alter table sources add column checked_at timestamptz;
alter table sources add column check_state text
  check (check_state in ('unchanged', 'changed', 'moved', 'gone', 'unchecked'));
alter table sources add column check_details jsonb not null default '{}';
alter table sources add constraint sources_checked_whole
  check ((checked_at is null) = (check_state is null));
