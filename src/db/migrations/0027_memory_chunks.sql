-- Chunks of long texts, for the search by meaning and by words (match_chunks). Vectors become arrays
-- of numbers: pgvector reads them without a copy of its own, and a server without it reads them, too.

-- Vectors are made anew when a text is next needed.
drop table memory_vectors;

create table memory_vectors (
  tenant_id uuid not null references tenants,
  -- Of the text that was embedded.
  digest text not null,
  model text not null,
  dimensions int not null,
  vector real[] not null,
  project_id uuid not null,
  primary key (tenant_id, digest, model),
  check (cardinality(vector) = dimensions),
  foreign key (tenant_id, project_id) references projects (tenant_id, id) on delete cascade
);
call isolate_table('memory_vectors', 'select, insert, update');
create index memory_vectors_of_project on memory_vectors (tenant_id, project_id);

create table memory_chunks (
  tenant_id uuid not null references tenants,
  -- The digest of the text that it is a part of.
  item text not null,
  place int not null,
  -- Of its own text, as in memory_vectors.
  digest text not null,
  body text not null,
  -- The words that carry its subject, each with its places; how many there are.
  words tsvector not null,
  size int not null,
  project_id uuid not null,
  primary key (tenant_id, item, place),
  foreign key (tenant_id, project_id) references projects (tenant_id, id) on delete cascade
);
call isolate_table('memory_chunks', 'select, insert, update');
create index memory_chunks_of_project on memory_chunks (tenant_id, project_id);
create index memory_chunks_of_digest on memory_chunks (tenant_id, digest);
create index memory_chunks_by_words on memory_chunks using gin (words);

-- Which sessions have read a text.
create table memory_items (
  tenant_id uuid not null,
  session_id uuid not null,
  item text not null,
  primary key (tenant_id, session_id, item),
  foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
);
call isolate_table('memory_items', 'select, insert');
