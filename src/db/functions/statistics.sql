-- What the planner shall believe of tables that nobody has analysed: a store holds one tenant and a few
-- projects and sessions. Without statistics it takes a tenant for one of 200, so that an index on the
-- tenant looks as good as one on the row; plans that are made in an empty store are kept, and an embedded
-- store has no autovacuum whose ANALYZE would replace them. Servers before version 18 have no such
-- function and wait for theirs.
do $$
begin
  if current_setting('server_version_num')::int < 180000 then
    return;
  end if;
  perform pg_restore_attribute_stats(
    'schemaname', 'public', 'relname', c.relname::text, 'attname', a.attname::text,
    'inherited', false, 'null_frac', 0::real, 'avg_width', 16,
    'n_distinct', (case a.attname when 'tenant_id' then 1 else 10 end)::real)
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.reltuples < 0
    and a.attname in ('tenant_id', 'project_id', 'session_id');
end
$$;
