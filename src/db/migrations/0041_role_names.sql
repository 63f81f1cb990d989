-- Roles whose names carry the store's id, and a database that is closed to others.
--
-- Roles belong to the whole server. Until now those of all its stores had the same names, so that the
-- owner of one store could take the roles of another. `migrate` writes the store's own names where the
-- files say dialectic_app; the old names are therefore put together here.

-- As in 0001: an administrator may have made them (dialectic doctor --sql).
do $$
declare
  wanted text;
  needed text := case when current_setting('server_version_num')::int >= 160000
    then 'SET' else 'MEMBER' end;
begin
  foreach wanted in array array['dialectic_app', 'dialectic_worker', 'dialectic_auth'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      execute format('create role %I nologin noinherit', wanted);
    end if;
    if not pg_has_role(current_user, wanted, needed) then
      execute format('grant %I to current_user', wanted);
    end if;
  end loop;
  if (select rolsuper from pg_roles where rolname = current_user)
    and not exists (select from pg_roles where rolname = 'dialectic_ledger')
  then
    create role dialectic_ledger nologin noinherit;
  end if;
end
$$;

-- Gives policies, rights and functions of the roles with plain names to those of this store.
do $$
declare
  renamed record;
  one record;
begin
  for renamed in
    select o.oid, n.name from (values ('app', 'dialectic_app'), ('worker', 'dialectic_worker'),
      ('auth', 'dialectic_auth'), ('ledger', 'dialectic_ledger')) as n (kind, name)
    join pg_roles o on o.rolname = 'dialectic_' || n.kind
  loop
    for one in select p.polname, p.polrelid::regclass as of_table from pg_policy p
      join pg_class c on c.oid = p.polrelid
      where c.relnamespace = 'public'::regnamespace and p.polroles = array[renamed.oid]
    loop
      execute format('alter policy %I on %s to %I', one.polname, one.of_table, renamed.name);
    end loop;
    for one in select c.oid::regclass as of_table, g.privilege_type as privilege
      from pg_class c cross join aclexplode(c.relacl) g
      where c.relnamespace = 'public'::regnamespace and g.grantee = renamed.oid
    loop
      execute format('grant %s on %s to %I', one.privilege, one.of_table, renamed.name);
      execute format('revoke %s on %s from %s', one.privilege, one.of_table, renamed.oid::regrole);
    end loop;
    for one in select a.attrelid::regclass as of_table, a.attname, g.privilege_type as privilege
      from pg_attribute a join pg_class c on c.oid = a.attrelid cross join aclexplode(a.attacl) g
      where c.relnamespace = 'public'::regnamespace and g.grantee = renamed.oid
    loop
      execute format('grant %s (%I) on %s to %I', one.privilege, one.attname, one.of_table,
        renamed.name);
      execute format('revoke %s (%I) on %s from %s', one.privilege, one.attname, one.of_table,
        renamed.oid::regrole);
    end loop;
    for one in select p.oid::regprocedure as of_function from pg_proc p
      where p.pronamespace = 'public'::regnamespace and p.proowner = renamed.oid
    loop
      execute format('alter function %s owner to %I', one.of_function, renamed.name);
    end loop;
  end loop;
end
$$;

-- Policies are named after what a role is, not after the store.
do $$
declare
  one record;
begin
  for one in select p.polname, p.polrelid::regclass as of_table,
      substring(p.polname from '^dialectic_(worker|auth)') as kind
    from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.relnamespace = 'public'::regnamespace and p.polname ~ '^dialectic_(worker|auth)'
  loop
    execute format('alter policy %I on %s rename to %I', one.polname, one.of_table,
      one.kind || '_all');
  end loop;
end
$$;

create or replace procedure isolate_table(table_name text, privileges text)
  language plpgsql as $$
begin
  execute format('alter table %I enable row level security', table_name);
  execute format('alter table %I force row level security', table_name);
  execute format(
    'create policy tenant_only on %I for all to dialectic_app '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name
  );
  execute format('grant %s on %I to dialectic_app', privileges, table_name);
end
$$;

create or replace procedure open_table(table_name text, to_role text, privileges text)
  language plpgsql as $$
begin
  execute format(
    'create policy %I on %I for all to %I using (true) with check (true)',
    substring(to_role from 'worker|auth') || '_all', table_name, to_role
  );
  execute format('grant %s on %I to %I', privileges, table_name, to_role);
end
$$;

create or replace function ledger_owner() returns text language sql stable return
  case when (select rolsuper from pg_roles where rolname = current_user)
    then 'dialectic_ledger' else current_user end;

create or replace procedure open_to_ledger(table_name text, privileges text) language plpgsql as $$
begin
  execute format(
    'create policy ledger_of_tenant on %I for all to %I '
    'using (tenant_id = (select current_tenant())) '
    'with check (tenant_id = (select current_tenant()))',
    table_name, ledger_owner()
  );
  if ledger_owner() = 'dialectic_ledger' then
    execute format('grant %s on %I to dialectic_ledger', privileges, table_name);
  end if;
end
$$;

-- Other logins of the server have no business here, as far as this one may say so: `dialectic doctor`
-- tells where it may not. The databases that a server begins with are everybody's.
do $$
declare
  here record;
begin
  select d.datname, d.datdba into here from pg_database d where d.datname = current_database();
  if pg_has_role(here.datdba, 'USAGE') and here.datname not in ('postgres', 'template0', 'template1')
  then
    execute format('grant connect, temporary on database %I to current_user', here.datname);
    execute format('revoke connect, temporary on database %I from public', here.datname);
  end if;
  if pg_has_role((select n.nspowner from pg_namespace n where n.nspname = 'public'), 'USAGE') then
    revoke create on schema public from public;
  end if;
end
$$;
