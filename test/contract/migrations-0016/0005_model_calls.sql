-- Requests to providers, and the text that arrived while they ran.

-- Written before the request leaves. A row that stays `sent` belongs to a process that died.
create table model_calls (
  tenant_id uuid not null,
  id uuid not null,
  session_id uuid not null,
  job_id uuid not null,
  model text not null,
  purpose text not null check (purpose in ('document', 'continuation', 'repair')),
  status text not null default 'sent' check (status in ('sent', 'received', 'failed', 'cut')),
  request_hash text not null,
  contribution_id uuid,
  finish_reason text,
  input_tokens bigint,
  output_tokens bigint,
  cached_input_tokens bigint,
  usage_estimated boolean not null default false,
  -- What the call cost in millionths of a dollar; null where the price is unknown.
  cost_micros bigint,
  error jsonb,
  started_at timestamptz not null default app_now(),
  finished_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, job_id) references jobs,
  foreign key (tenant_id, request_hash) references blobs,
  foreign key (tenant_id, contribution_id) references contributions
);
create index model_calls_of_job on model_calls (tenant_id, job_id);
create index model_calls_of_session on model_calls (tenant_id, session_id);
call isolate_table('model_calls', 'select, insert, update');

-- What had arrived of an answer, at least every two seconds or four kilobytes: a crash costs no
-- more paid text than that.
create table call_pieces (
  tenant_id uuid not null,
  call_id uuid not null,
  seq int not null,
  body text not null,
  primary key (tenant_id, call_id, seq),
  foreign key (tenant_id, call_id) references model_calls
);
call isolate_table('call_pieces', 'select, insert, delete');
