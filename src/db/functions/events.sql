-- The event log: append-only, and announced to its readers.

-- Nobody changes an event, and only erase_project() takes events away: it runs as its owner.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_user = (select pg_get_userbyid(p.proowner) from pg_proc p
    where p.oid = 'erase_project(uuid, uuid)'::regprocedure)
  then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name
    using errcode = 'DX000', hint = 'access_denied';
end
$$;
create or replace trigger events_append_only before update or delete or truncate on events
  execute function refuse_change();

-- A hint for readers, who poll all the same. Every role can listen, so it says only that there is
-- something to look for. PostgreSQL serialises the commits of transactions that notify, so workers set
-- dialectic.quiet and send their hints in a transaction of their own.
create or replace function notify_events() returns trigger language plpgsql as $$
begin
  if current_setting('dialectic.quiet', true) is distinct from 'on' then
    perform pg_notify('dialectic_events', '');
  end if;
  return null;
end
$$;
create or replace trigger events_notify after insert on events
  for each statement execute function notify_events();

-- The oldest transaction that may still add events to this store; what is older than it can be read for
-- good. Transaction ids are those of the whole server, so a long transaction in another database, or an
-- autovacuum worker's, would delay readers here for nothing. A transaction of the snapshot that is not
-- found among the backends (prepared, of a role that this one may not see, or just ended) counts as one
-- of this database. Ids wrap at 32 bits in pg_stat_activity.
create or replace function event_horizon() returns xid8 language sql stable
  security definer set search_path = public, pg_temp as $$
  select require_tenant(current_tenant());
  select coalesce(min(running), pg_snapshot_xmax(pg_current_snapshot()))
  from pg_snapshot_xip(pg_current_snapshot()) running
  where not exists (
    select from pg_stat_activity a
    where a.backend_xid::text::bigint = running::text::bigint & 4294967295
      and (a.datname <> current_database() or a.backend_type = 'autovacuum worker'))
$$;
