-- The sources of a project, and what cites them.

create table sources (
  tenant_id uuid not null,
  project_id uuid not null,
  -- The number in its id: 1 for S1. Dense, in the order of admission, and never changed.
  ordinal int not null check (ordinal > 0),
  -- What makes it the same source when it is found again.
  key text not null,
  title text not null,
  -- url, doi, isbn, author, publisher, year: as far as they are known.
  about jsonb not null default '{}',
  -- Why it could not be checked; null where it was, or needed no check.
  degraded text,
  -- The source that stands for it while the two are held to be one.
  alias_of int check (alias_of <> ordinal),
  -- How it came here: given with a run, added later, reference_documents, or research.
  origin text not null,
  admitted_at timestamptz not null default app_now(),
  primary key (tenant_id, project_id, ordinal),
  unique (tenant_id, project_id, key),
  foreign key (tenant_id, project_id) references projects (tenant_id, id) on delete cascade,
  foreign key (tenant_id, project_id, alias_of) references sources (tenant_id, project_id, ordinal)
    on delete cascade
);
call isolate_table('sources', 'select, insert, update');

-- What was read of a source: its whole text, or the passages that were found; none is ever taken away.
create table source_excerpts (
  tenant_id uuid not null,
  project_id uuid not null,
  source int not null,
  ordinal int not null check (ordinal > 0),
  blob_hash text not null,
  primary key (tenant_id, project_id, source, ordinal),
  foreign key (tenant_id, project_id, source) references sources (tenant_id, project_id, ordinal)
    on delete cascade,
  foreign key (tenant_id, blob_hash) references blobs
);
call isolate_table('source_excerpts', 'select, insert');
-- For erase_project, which deletes texts that nothing refers to.
call open_to_ledger('source_excerpts', 'select');
create index source_excerpts_of_blob on source_excerpts (tenant_id, blob_hash);

-- Which document cites which source, and where.
create table source_uses (
  tenant_id uuid not null,
  document_id uuid not null,
  -- In the order of the document.
  ordinal int not null check (ordinal > 0),
  project_id uuid not null,
  -- As it is cited: an alias stays one here, so that taking it back changes no row.
  source int not null,
  kind text not null check (kind in ('finding', 'cluster', 'contradiction', 'section')),
  -- The section, with the record in it where it is a list: findings/F3.
  place text not null,
  primary key (tenant_id, document_id, ordinal),
  foreign key (tenant_id, document_id) references documents (tenant_id, id) on delete cascade,
  foreign key (tenant_id, project_id, source) references sources (tenant_id, project_id, ordinal)
    on delete cascade
);
call isolate_table('source_uses', 'select, insert');
create index source_uses_of_source on source_uses (tenant_id, project_id, source);

-- What the audit of its citations found; null where the project has no sources.
alter table documents add column citations jsonb;
