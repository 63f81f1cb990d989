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
 * The script runs with an administrator's rights in a database whose owner may be anybody. It plans no
 * statement on a table that it has not made itself in the same transaction: an index, a cast or a rule of
 * the owner's would run as the administrator. Of all else it reads catalogs alone, and its search path holds
 * nothing that others may write.
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
  is_empty boolean := false;
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

  -- The id of the store, which the names of its roles carry, and the roles that transactions take. A store
  -- that has its id has its roles, too; the table is not read, since its owner decides what that runs.
  if to_regclass('public.store_identity') is null then
    is_empty := not exists (select from pg_class c where c.relnamespace = 'public'::regnamespace)
      and not exists (select from pg_proc p where p.pronamespace = 'public'::regnamespace)
      and not exists (select from pg_operator o where o.oprnamespace = 'public'::regnamespace)
      and not exists (select from pg_type t where t.typnamespace = 'public'::regnamespace);
    create table public.${IDENTITY_TABLE};
    insert into public.store_identity default values;
    select i.id into store_id from public.store_identity i;
    execute format('alter table public.store_identity owner to %I', login);
    foreach wanted in array array['dialectic_app_', 'dialectic_worker_', 'dialectic_auth_'] loop
      -- Nobody knew the id before: a role of this name would be there by chance alone, and ends this.
      execute format('create role %I nologin noinherit', wanted || store_id);
      execute format('grant %I to %I', wanted || store_id, login);
    end loop;
  else
    raise notice 'The store has its id already: its roles stay as they are.';
  end if;

  -- The login may make tables here, and other logins of the server have no business here.
  execute format('grant usage, create on schema public to %I', login);
  revoke create on schema public from public;
  -- What others made while they could stays. Functions of a superuser's store belong to its ledger's role.
  for other in select f.kind, f.identity, f.owner, f.is_ours from (${foreignObjects('login', 'login')}) f
    where not account.rolsuper
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

  -- The script of an extension runs as the administrator, too: only beside nothing of the owner's.
  if is_empty and exists (select from pg_available_extensions where name = 'vector') then
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
