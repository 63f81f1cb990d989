-- What reports, exports and events read of a job's document becomes columns of the job; it had to be
-- dug out of the payload, which is the handler's own.
alter table jobs
  add column document_key text,
  -- The document's place in the debate, as in documents.identity.
  add column document_identity text,
  add column source_group uuid,
  -- The lane whose document this one answers; null where it answers none.
  add column responding_lane_id uuid;

-- Policies hold for the owner of a table, too, unless it is the superuser: it must see all rows here.
alter table jobs no force row level security;
update jobs set
  document_key = coalesce(payload->'planned'->>'documentKey', payload->>'documentKey'),
  document_identity = coalesce(payload->'planned'->>'identity', payload->>'identity'),
  source_group = (payload->'planned'->>'sourceGroup')::uuid,
  responding_lane_id = (payload->'planned'->>'respondingLaneId')::uuid
where payload ? 'planned' or payload ? 'documentKey';
alter table jobs force row level security;

drop function if exists document_key_of(jsonb);
