import pg from 'pg';
import { DialecticError } from '../errors/errors.ts';
import { foreignObjects } from './foreign-objects.ts';
import type { StoreLocation } from './open.ts';
import { readAccount } from './server-errors.ts';
import { IDENTITY_TABLE } from './store-roles.ts';

/**
 * SQL that an administrator runs once in the database of a location, so that its login can open a
 * store there without CREATEROLE. Names of database and login stand in it as literals alone.
 */
export function writePreparation(location: StoreLocation): string {
  if (!('databaseUrl' in location)) {
    throw new DialecticError(
      'usage_invalid',
      '--sql prepares a database of a PostgreSQL server: name it in DATABASE_URL.',
    );
  }
  // What the address leaves open comes from the environment, as for a connection.
  const { database, user } = new pg.Client(readAccount(location.databaseUrl));
  if (!database || !user) {
    throw new DialecticError('usage_invalid', 'DATABASE_URL must name a login and a database.');
  }
  return PREPARATION.replace('$DATABASE', () => pg.escapeLiteral(database)).replace('$LOGIN', () =>
    pg.escapeLiteral(user),
  );
}

/**
 * The search path holds nothing that others may write, and what they made in the database is only read:
 * the script runs with an administrator's rights.
 */
const PREPARATION = `-- Run once by a superuser, in the database of DATABASE_URL. A second run changes nothing.
begin;
set local search_path = pg_catalog, pg_temp;
set local dialectic.database = $DATABASE;
set local dialectic.login = $LOGIN;
do $$
declare
  login constant text := current_setting('dialectic.login');
  is_old constant boolean := current_setting('server_version_num')::int < 160000;
  account record;
  store_id text;
  wanted text;
  other record;
begin
  if current_database() <> current_setting('dialectic.database') then
    raise exception 'This prepares the database "%", and psql is in "%". Name it with: psql -d',
      current_setting('dialectic.database'), current_database();
  end if;
  select r.rolsuper, r.rolcreaterole into account from pg_roles r where r.rolname = login;
  if not found then
    raise exception 'There is no login "%" yet. Make it with CREATE ROLE ... LOGIN.', login;
  end if;
  if account.rolsuper then
    raise warning 'The login "%" is a superuser, which no right binds. Take another one.', login;
  end if;

  -- The id of the store, which the names of its roles carry.
  if to_regclass('public.store_identity') is null then
    create table public.${IDENTITY_TABLE};
    insert into public.store_identity default values;
    execute format('alter table public.store_identity owner to %I', login);
  end if;
  if (select c.relkind from pg_class c where c.oid = 'public.store_identity'::regclass) <> 'r' then
    raise exception 'public.store_identity is no table of Dialectic.';
  end if;
  select i.id into store_id from public.store_identity i;
  if store_id is null or store_id !~ '^[0-9a-f]{12}$' then
    raise exception 'public.store_identity holds no id of a store.';
  end if;

  -- The roles that transactions take. Whatever id stands here, those of another login stay its own.
  foreach wanted in array array['dialectic_app_', 'dialectic_worker_', 'dialectic_auth_'] loop
    wanted := wanted || store_id;
    if not exists (select from pg_roles r where r.rolname = wanted) then
      execute format('create role %I nologin noinherit', wanted);
    elsif not pg_has_role(login, wanted, 'MEMBER') then
      raise exception 'The role % is another login''s. If both share the store, grant it to "%".',
        wanted, login;
    end if;
    execute format('grant %I to %I', wanted, login);
  end loop;

  -- The login may make tables here, and other logins of the server have no business here.
  execute format('grant usage, create on schema public to %I', login);
  revoke create on schema public from public;
  -- What others made while they could stays. The roles of the store's ledger make nothing of their own.
  for other in select f.kind, f.identity, f.owner, f.is_ours from (${foreignObjects('login', 'login')}) f
    where f.owner <> 'dialectic_ledger_' || store_id
  loop
    if other.is_ours then
      raise exception 'The % % was made by another login, "%". The store would use it: drop it first.',
        other.kind, other.identity, other.owner;
    end if;
    raise warning 'The % % was made by another login, "%".', other.kind, other.identity, other.owner;
  end loop;
  execute format('grant connect, temporary on database %I to %I', current_database(), login);
  if current_database() not in ('postgres', 'template0', 'template1') then
    execute format('revoke connect, temporary on database %I from public', current_database());
  end if;

  if exists (select from pg_available_extensions where name = 'vector') then
    create extension if not exists vector schema public;
  end if;

  -- Up to version 15 a login with CREATEROLE can give itself the roles of every store.
  if is_old then
    if account.rolcreaterole then
      execute format('alter role %I nocreaterole', login);
    end if;
    for wanted in select r.rolname from pg_roles r
      where r.rolcreaterole and r.rolcanlogin and not r.rolsuper
    loop
      raise warning 'The login "%" has CREATEROLE and can take the roles of every store.', wanted;
    end loop;
  end if;
end
$$;
commit;
`;
