-- Events of model calls, the text that arrives from them, and documents.

create or replace function tell_contribution() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select new.tenant_id, 'session/' || new.session_id, 'contribution-received',
    j.about || jsonb_build_object('contributionId', new.id, 'ordinal', new.ordinal,
      'finishReason', new.finish_reason)
  from describe_jobs(new.tenant_id, new.job_id) as j (about);
  return null;
end
$$;
create or replace trigger contributions_creation_events after insert on contributions
  for each row execute function tell_contribution();

-- What a call took, with its end: `cut` where its process died and what had arrived was kept.
create or replace function tell_call_end() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select new.tenant_id, 'session/' || new.session_id, 'call-ended',
    j.about || jsonb_build_object('callId', new.id,
      'model', new.model, 'purpose', new.purpose, 'outcome', new.status,
      'inputTokens', coalesce(new.input_tokens, 0), 'outputTokens', coalesce(new.output_tokens, 0),
      'costMicros', new.cost_micros)
  from describe_jobs(new.tenant_id, new.job_id) as j (about);
  return null;
end
$$;
create or replace trigger model_calls_change_events after update of status on model_calls
  for each row when (old.status = 'sent' and new.status <> 'sent')
  execute function tell_call_end();

-- The text itself stays in call_pieces while the call runs, and in its contribution after it.
create or replace function tell_text() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select c.tenant_id, 'session/' || c.session_id, 'text-saved',
    j.about || jsonb_build_object('callId', c.id, 'model', c.model, 'seq', new.seq,
      'characters', length(new.body))
  from model_calls c cross join lateral describe_jobs(c.tenant_id, c.job_id) as j (about)
  where c.tenant_id = new.tenant_id and c.id = new.call_id;
  return null;
end
$$;
create or replace trigger call_pieces_creation_events after insert on call_pieces
  for each row execute function tell_text();

-- A document that comes with its page is created and rendered at once; a seed prompt has no other text
-- and is only created.
create or replace function tell_document() returns trigger language plpgsql as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select new.tenant_id, 'session/' || new.session_id, k.kind,
    jsonb_build_object('documentId', new.id, 'documentKind', new.kind,
      'documentKey', new.document_key, 'version', new.version, 'stage', new.stage_key,
      'iteration', new.iteration, 'step', new.step_key, 'laneId', new.lane_id, 'jobId', new.job_id,
      'lane', l.ordinal, 'model', l.model)
  from unnest(case
    when tg_op = 'UPDATE' then array['document-rendered']
    when new.markdown_hash is null or new.kind = 'seed_prompt' then array['document-created']
    else array['document-created', 'document-rendered'] end) as k (kind)
  left join lanes l on l.tenant_id = new.tenant_id and l.id = new.lane_id;
  return null;
end
$$;
create or replace trigger documents_creation_events after insert on documents
  for each row execute function tell_document();
create or replace trigger documents_change_events after update of markdown_hash on documents
  for each row when (new.markdown_hash is not null
    and old.markdown_hash is distinct from new.markdown_hash)
  execute function tell_document();
