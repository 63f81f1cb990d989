-- Erasing a project: its sessions and all that they wrote, their events included. The ledger stays,
-- with ids and amounts alone, and one event for each session, which tells readers that it is gone.
--
-- Lock order: project, sessions, jobs, calls, then the tenant's texts. A run that starts in a project
-- locks the project first. A transaction that saves a text takes the texts' lock shared, before or after
-- the accounts that it locks; beside an eraser PostgreSQL may reorder the queue after deadlock_timeout.

-- Keeps texts and recipes that are there already from being erased until the transaction ends, so that
-- what refers to them can be saved after them.
create or replace function keep_texts() returns void language sql as $$
  select pg_advisory_xact_lock_shared(hashtextextended(current_tenant()::text, 3))
$$;

-- Locks what is to be erased and returns the sessions; refuses while work or money is in flight.
create or replace function lock_for_erasing(of_tenant uuid, of_project uuid)
  returns uuid[] language plpgsql as $$
declare
  ids uuid[];
  busy uuid;
begin
  perform 1 from projects p where p.tenant_id = of_tenant and p.id = of_project for update;
  if not found then
    raise exception 'There is no project %.', of_project using errcode = 'DX000', hint = 'not_found';
  end if;
  perform 1 from sessions s where s.tenant_id = of_tenant and s.project_id = of_project
  order by s.id for update;
  select coalesce(array_agg(s.id), '{}'), (array_agg(s.id) filter (where s.status = 'running'))[1]
  into ids, busy from sessions s where s.tenant_id = of_tenant and s.project_id = of_project;
  if busy is not null then
    raise exception 'Session % of the project is running. End it first with: dialectic cancel %',
      busy, busy using errcode = 'DX000', hint = 'session_running';
  end if;
  perform 1 from jobs j where j.tenant_id = of_tenant and j.session_id = any (ids)
  order by j.seq desc for update;
  perform 1 from model_calls c where c.tenant_id = of_tenant and c.session_id = any (ids)
  order by c.id for update;
  select h.session_id into busy from holds h
  where h.tenant_id = of_tenant and h.session_id = any (ids) and h.status = 'held' limit 1;
  if busy is not null then
    raise exception 'A call of session % is still in flight. Try again when it has ended.', busy
      using errcode = 'DX000', hint = 'session_running';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(of_tenant::text, 3));
  return ids;
end
$$;

-- The hashes of all texts that a project and its sessions refer to.
create or replace function texts_of(of_tenant uuid, of_project uuid, of_sessions uuid[])
  returns text[] language sql stable as $$
  select array_agg(t.hash) from (
    select p.brief_hash as hash from projects p where p.tenant_id = of_tenant and p.id = of_project
    union select r.blob_hash from resources r
      where r.tenant_id = of_tenant and r.project_id = of_project
    union select x.blob_hash from source_excerpts x
      where x.tenant_id = of_tenant and x.project_id = of_project
    union select c.blob_hash from contributions c
      where c.tenant_id = of_tenant and c.session_id = any (of_sessions)
    union select unnest(array[d.markdown_hash, d.body_hash]) from documents d
      where d.tenant_id = of_tenant and d.session_id = any (of_sessions)
    union select m.request_hash from model_calls m
      where m.tenant_id = of_tenant and m.session_id = any (of_sessions)
    union select q.blob_hash from call_parts q
      join model_calls m on m.tenant_id = q.tenant_id and m.id = q.call_id
      where m.tenant_id = of_tenant and m.session_id = any (of_sessions)) as t
$$;

-- Deletes those of the texts that nothing refers to any more; returns their size.
create or replace function delete_unused_texts(of_tenant uuid, hashes text[])
  returns bigint language sql as $$
  with gone as (
    delete from blobs b where b.tenant_id = of_tenant and b.hash = any (hashes)
      and not exists (select from projects p
        where p.tenant_id = of_tenant and p.brief_hash = b.hash)
      and not exists (select from resources r
        where r.tenant_id = of_tenant and r.blob_hash = b.hash)
      and not exists (select from source_excerpts x
        where x.tenant_id = of_tenant and x.blob_hash = b.hash)
      and not exists (select from contributions c
        where c.tenant_id = of_tenant and c.blob_hash = b.hash)
      and not exists (select from documents d
        where d.tenant_id = of_tenant and d.markdown_hash = b.hash)
      and not exists (select from documents d
        where d.tenant_id = of_tenant and d.body_hash = b.hash)
      and not exists (select from model_calls m
        where m.tenant_id = of_tenant and m.request_hash = b.hash)
      and not exists (select from call_parts q
        where q.tenant_id = of_tenant and q.blob_hash = b.hash)
    returning octet_length(b.body) as size)
  select coalesce(sum(g.size), 0)::bigint from gone g
$$;

-- Deletes those of the bytes of sources that no copy refers to any more; returns their size.
create or replace function delete_unused_bytes(of_tenant uuid, hashes text[])
  returns bigint language sql as $$
  with gone as (
    delete from archived_bytes a where a.tenant_id = of_tenant and a.hash = any (hashes)
      and not exists (select from source_copies c
        where c.tenant_id = of_tenant and c.bytes_hash = a.hash)
    returning octet_length(a.body) as size)
  select coalesce(sum(g.size), 0)::bigint from gone g
$$;

-- Deletes those of the recipe versions that no session uses any more, and stages without a version.
create or replace function delete_unused_recipes(of_tenant uuid, hashes text[])
  returns void language plpgsql as $$
begin
  delete from recipe_versions v where v.tenant_id = of_tenant and v.hash = any (hashes)
    and not exists (select from sessions s where s.tenant_id = of_tenant and s.recipe_hash = v.hash);
  delete from recipe_stages g where g.tenant_id = of_tenant and not exists (
    select from recipe_versions v, json_array_elements(v.manifest->'stages') as part
    where v.tenant_id = of_tenant and part->>'hash' = g.hash);
end
$$;

-- Erases a project and tells how many sessions, versions of documents and bytes are gone.
create or replace function erase_project(
  of_tenant uuid, of_project uuid,
  out erased_sessions int, out erased_documents int, out erased_bytes bigint
) language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  ids uuid[];
  texts text[];
  recipes text[];
  copies text[];
  topics text[];
begin
  perform require_tenant(of_tenant);
  ids := lock_for_erasing(of_tenant, of_project);
  texts := texts_of(of_tenant, of_project, ids);
  recipes := array(select s.recipe_hash from sessions s
    where s.tenant_id = of_tenant and s.id = any (ids) and s.recipe_hash is not null);
  copies := array(select c.bytes_hash from source_copies c
    where c.tenant_id = of_tenant and c.project_id = of_project and c.bytes_hash is not null);
  topics := array(select 'session/' || id from unnest(ids) as id) || array['project/' || of_project];
  erased_sessions := cardinality(ids);
  select count(*) into erased_documents from documents d
  where d.tenant_id = of_tenant and d.session_id = any (ids) and d.kind = 'document';
  delete from call_pieces p using model_calls c
  where p.tenant_id = of_tenant and c.tenant_id = of_tenant and c.id = p.call_id
    and c.session_id = any (ids);
  delete from call_parts q using model_calls c
  where q.tenant_id = of_tenant and c.tenant_id = of_tenant and c.id = q.call_id
    and c.session_id = any (ids);
  delete from feedback f where f.tenant_id = of_tenant and f.session_id = any (ids);
  delete from documents d where d.tenant_id = of_tenant and d.session_id = any (ids);
  delete from model_calls c where c.tenant_id = of_tenant and c.session_id = any (ids);
  delete from contributions c where c.tenant_id = of_tenant and c.session_id = any (ids);
  delete from lane_steps l using stage_runs r
  where l.tenant_id = of_tenant and r.tenant_id = of_tenant and r.id = l.stage_run_id
    and r.session_id = any (ids);
  delete from jobs j where j.tenant_id = of_tenant and j.session_id = any (ids);
  delete from stage_runs r where r.tenant_id = of_tenant and r.session_id = any (ids);
  delete from lanes l where l.tenant_id = of_tenant and l.session_id = any (ids);
  delete from events e where e.tenant_id = of_tenant and e.topic = any (topics);
  -- Whoever watches a session would otherwise wait for ever for its next event.
  perform tell_session(of_tenant, s.id, 'session-erased',
    jsonb_build_object('iteration', s.iteration))
  from sessions s where s.tenant_id = of_tenant and s.id = any (ids);
  delete from notices n where n.tenant_id = of_tenant and n.topic = any (topics);
  delete from budgets b where b.tenant_id = of_tenant
    and b.scope in ('session', 'project') and b.owner_id = any (ids || of_project);
  delete from sessions s where s.tenant_id = of_tenant and s.id = any (ids);
  -- Sources, their excerpts, their copies and what cites them go with the project and its documents.
  delete from resources r where r.tenant_id = of_tenant and r.project_id = of_project;
  delete from projects p where p.tenant_id = of_tenant and p.id = of_project;
  erased_bytes := delete_unused_texts(of_tenant, texts) + delete_unused_bytes(of_tenant, copies);
  perform delete_unused_recipes(of_tenant, recipes);
end
$$;
