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

-- Notes the parts of a call's request. Where it begins with all that the chain's last call sent, as the
-- request of every further turn does, only the rest is noted. plan_cache_mode: the number of parts
-- looks so much better than a guess that the insert would be planned again for every call.
create or replace function note_request(of_call uuid, of_chain uuid, roles text[], hashes text[])
  returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  last_call uuid;
  begun int := 0;
begin
  -- The first link of a chain has the chain's id; the index of links holds the others alone. Sorted
  -- apart, since a limit makes the planner walk all calls of the tenant from the newest back.
  with sent as materialized (
    select c.id from model_calls c
    where c.tenant_id = current_tenant() and c.id <> of_call and c.purpose <> 'embedding'
      and c.job_id = any (of_chain || array(select j.id from jobs j
        where j.tenant_id = current_tenant() and j.chain_id = of_chain and j.chain_id <> j.id)))
  select id into last_call from sent order by id desc limit 1;
  if found then
    select count(*) into begun from request_parts(last_call)
    having bool_and(role is not distinct from roles[ordinal + 1]
      and blob_hash = hashes[ordinal + 1]);
    begun := coalesce(begun, 0);
  end if;
  if begun > 0 then
    update model_calls c set begins_with = last_call
    where c.tenant_id = current_tenant() and c.id = of_call;
  end if;
  insert into call_parts (tenant_id, call_id, ordinal, role, blob_hash)
  select current_tenant(), of_call, at - 1, roles[at], hashes[at]
  from generate_series(begun + 1, cardinality(hashes)) as at;
end
$$;
