-- The parts of a call's request in their order, those of the calls that it begins with included.
create or replace function request_parts(of_call uuid)
  returns table (ordinal int, role text, blob_hash text) language sql stable as $$
  with recursive begun as (
    select c.tenant_id, c.id, c.begins_with from model_calls c
    where c.tenant_id = current_tenant() and c.id = of_call
    union all
    select c.tenant_id, c.id, c.begins_with from model_calls c
    join begun b on c.tenant_id = b.tenant_id and c.id = b.begins_with)
  select p.ordinal, p.role, p.blob_hash from begun b
  join call_parts p on p.tenant_id = b.tenant_id and p.call_id = b.id
  order by p.ordinal
$$;

-- How many parts of a call's request are those with which the chain's last call began, where that are
-- all of its own, as in every further turn; else none. The call then begins with that one. plan_cache_mode
-- keeps PostgreSQL from planning again for each number of parts.
create or replace function begin_with_last(of_call uuid, of_chain uuid, parts jsonb)
  returns int language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  last_call uuid;
  begun int;
begin
  -- The first link of a chain has the chain's id; the index of links holds the others alone. Sorted
  -- apart, since a limit makes the planner walk all calls of the tenant from the newest back.
  with sent as materialized (
    select c.id from model_calls c
    where c.tenant_id = current_tenant() and c.id <> of_call and c.purpose <> 'embedding'
      and c.job_id = any (of_chain || array(select j.id from jobs j
        where j.tenant_id = current_tenant() and j.chain_id = of_chain and j.chain_id <> j.id)))
  select id into last_call from sent order by id desc limit 1;
  if not found then
    return 0;
  end if;
  select count(*) into begun from request_parts(last_call)
  having bool_and(role is not distinct from parts -> ordinal ->> 0
    and blob_hash = parts -> ordinal ->> 1);
  if coalesce(begun, 0) > 0 then
    update model_calls c set begins_with = last_call
    where c.tenant_id = current_tenant() and c.id = of_call;
  end if;
  return coalesce(begun, 0);
end
$$;

-- Notes the parts of requests, each a pair of role and hash, but for those that an earlier call of the
-- chain has noted. Their texts are not erased before the commit.
create or replace function note_requests(calls uuid[], chains uuid[], parts jsonb[])
  returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  begun int[] := '{}';
begin
  perform keep_texts();
  for at in 1..cardinality(calls) loop
    begun := begun || begin_with_last(calls[at], chains[at], parts[at]);
  end loop;
  insert into call_parts (tenant_id, call_id, ordinal, role, blob_hash)
  select current_tenant(), c.id, p.ordinal - 1, p.part ->> 0, p.part ->> 1
  from unnest(calls, parts, begun) as c (id, parts, begun)
  cross join lateral jsonb_array_elements(c.parts) with ordinality as p (part, ordinal)
  where p.ordinal > c.begun;
end
$$;
