-- Roles, tenants, users, API tokens.
--
-- No statement of the program runs as the owner of these tables except migrations: each transaction
-- takes one of three roles with SET LOCAL ROLE. None of them can log in, is a superuser or may
-- bypass row-level security.
do $$
declare
  wanted text;
  -- From version 16 on, membership alone does not mean that a role may be taken.
  needed text := case when current_setting('server_version_num')::int >= 160000
    then 'SET' else 'MEMBER' end;
begin
  foreach wanted in array array['dialectic_app', 'dialectic_worker', 'dialectic_auth'] loop
    -- Roles belong to the cluster: another database, or its administrator, may have made them.
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin noinherit', wanted);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
    if not pg_has_role(current_user, wanted, needed) then
      execute format('grant %I to current_user', wanted);
    end if;
  end loop;
end
$$;

-- The embedded database always has pgvector; a server may not have it or may not allow it.
do $$
begin
  if exists (select from pg_available_extensions where name = 'vector') then
    create extension if not exists vector;
  end if;
exception when insufficient_privilege then
  null;
end
$$;

create function current_tenant() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('dialectic.tenant', true), '')::uuid;

-- The one clock of all statements. Tests set dialectic.now for a transaction; otherwise it is the
-- database's own time, so that the clocks of workers do not matter.
create function app_now() returns timestamptz
  language sql stable parallel safe
  return coalesce(
    nullif(current_setting('dialectic.now', true), '')::timestamptz,
    statement_timestamp()
  );

-- Gives a table the isolation that every tenant table has. Foreign keys between tenant tables must
-- include tenant_id: key checks bypass policies, so a bare id would tell whether a row exists.
create procedure isolate_table(table_name text, privileges text)
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

-- Opens a table to one of the roles that work across tenants.
create procedure open_table(table_name text, to_role text, privileges text)
  language plpgsql as $$
begin
  execute format(
    'create policy %I on %I for all to %I using (true) with check (true)',
    to_role || '_all', table_name, to_role
  );
  execute format('grant %s on %I to %I', privileges, table_name, to_role);
end
$$;

create table tenants (
  tenant_id uuid primary key,
  name text not null check (name <> ''),
  created_at timestamptz not null default app_now()
);
call isolate_table('tenants', 'select');
call open_table('tenants', 'dialectic_auth', 'select, insert');

create table users (
  tenant_id uuid not null references tenants,
  id uuid not null,
  email text not null check (email <> ''),
  name text not null,
  is_owner boolean not null default false,
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  unique (tenant_id, email)
);
call isolate_table('users', 'select, insert, update, delete');
call open_table('users', 'dialectic_auth', 'select, insert');

create table api_tokens (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  name text not null,
  -- SHA-256 of 32 random bytes: nothing to guess, so no slow hash is needed.
  token_hash bytea not null unique,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, user_id) references users on delete cascade
);
create index api_tokens_user on api_tokens (tenant_id, user_id);
call isolate_table('api_tokens', 'select, insert, update, delete');
call open_table('api_tokens', 'dialectic_auth', 'select');
