-- Events of model calls, the text that arrives from them, and documents.

-- Calls that end together leave their rows by one statement, which tells all of them.

create or replace function tell_contributions() returns trigger language plpgsql
  set enable_seqscan = off as $$
begin
  insert into events (tenant_id, topic, kind, payload)
  select n.tenant_id, 'session/' || n.session_id, 'contribution-received',
    j.about || jsonb_build_object('contributionId', n.id, 'ordinal', n.ordinal,
      'finishReason', n.finish_reason)
  from new_rows n cross join lateral describe_jobs(n.tenant_id, n.job_id) as j (about)
  order by n.id;
  return null;
end
$$;
create or replace trigger contributions_creation_events after insert on contributions
  referencing new table as new_rows
  for each statement execute function tell_contributions();

-- Whether the request of a call has left, by the fault that its row names. Rows of a build that did not
-- note it tell it by their code: a circuit breaker that is open lets nothing through.
create or replace function was_sent(error jsonb) returns boolean
  language sql immutable parallel safe
  return error is null or (coalesce(error->>'sent', 'true') = 'true'
    and coalesce(error->>'code', '') <> 'provider_circuit_open');

-- What a call took, with its end: `cut` where its process died and what had arrived was kept. One whose
-- request never left is not told: it was no call.
create or replace function tell_call_ends() returns trigger language plpgsql
  set enable_seqscan = off as $$
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
$$;
create or replace trigger model_calls_change_events after update on model_calls
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_call_ends();

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
create or replace function tell_documents() returns trigger language plpgsql
  set enable_seqscan = off as $$
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
$$;
create or replace trigger documents_creation_events after insert on documents
  referencing new table as new_rows
  for each statement execute function tell_documents();
create or replace trigger documents_change_events after update on documents
  referencing old table as old_rows new table as new_rows
  for each statement execute function tell_documents();
