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
