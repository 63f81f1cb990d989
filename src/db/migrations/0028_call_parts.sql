-- Requests by their parts: each text is a blob that is stored once, however many requests hold it.
create table call_parts (
  tenant_id uuid not null,
  call_id uuid not null,
  ordinal int not null,
  -- Null goes on with the message of the part before.
  role text check (role in ('system', 'user', 'assistant')),
  blob_hash text not null,
  primary key (tenant_id, call_id, ordinal),
  foreign key (tenant_id, call_id) references model_calls,
  foreign key (tenant_id, blob_hash) references blobs
);
call isolate_table('call_parts', 'select, insert');
call open_to_ledger('call_parts', 'select, delete');
create index call_parts_of_blob on call_parts (tenant_id, blob_hash);

-- A further turn begins with everything that the call before it sent, and stores the rest alone.
alter table model_calls add column begins_with uuid;
alter table model_calls add foreign key (tenant_id, begins_with) references model_calls;
create index model_calls_beginning_with on model_calls (tenant_id, begins_with)
  where begins_with is not null;

-- The whole request of calls of earlier releases; null for those with parts.
alter table model_calls alter column request_hash drop not null;
