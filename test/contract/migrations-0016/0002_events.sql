-- The event log and the notices.
--
-- An event is written in the transaction of the change it tells of. Its cursor is (tx, id): a reader
-- takes only events of transactions older than every running one, so that no event with a smaller
-- cursor can appear after it was passed. A sequence alone cannot promise that: number 7 may commit
-- after number 8.
--
-- Transaction ids run backwards when a backup is restored: new events then have cursors that were
-- given out before. So a cursor also names the epoch, which a restoration renews.
create table store_epoch (
  only_row boolean primary key default true check (only_row),
  epoch text not null default left(gen_random_uuid()::text, 8)
);
insert into store_epoch default values;
grant select on store_epoch to dialectic_app, dialectic_worker;

create table events (
  tenant_id uuid not null references tenants,
  tx xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  -- What the event is about, for readers of one thing: session/<id>, project/<id>.
  topic text not null check (topic <> ''),
  kind text not null check (kind <> ''),
  payload jsonb not null default '{}',
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, tx, id)
);
create index events_topic on events (tenant_id, topic, tx, id);
call isolate_table('events', 'select, insert');
call open_table('events', 'dialectic_worker', 'select, insert');

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name
    using errcode = 'DX000', hint = 'access_denied';
end
$$;
create trigger events_append_only before update or delete or truncate on events
  execute function refuse_change();

-- A hint for readers, one for each tenant of a statement; they poll all the same. PostgreSQL commits
-- transactions that notify one after another, so workers keep quiet here and send hints apart.
create function notify_events() returns trigger language plpgsql as $$
begin
  if current_setting('dialectic.quiet', true) = 'on' then
    return null;
  end if;
  perform pg_notify('dialectic_events', tenant_id::text)
    from (select distinct tenant_id from added) as tenants;
  return null;
end
$$;
create trigger events_notify after insert on events
  referencing new table as added
  for each statement execute function notify_events();

create table notices (
  tenant_id uuid not null references tenants,
  id uuid not null,
  severity text not null check (severity in ('info', 'warning', 'error')),
  code text not null,
  message text not null check (message <> ''),
  topic text not null,
  details jsonb not null default '{}',
  created_at timestamptz not null default app_now(),
  dismissed_at timestamptz,
  primary key (tenant_id, id)
);
create index notices_open on notices (tenant_id, created_at) where dismissed_at is null;
call isolate_table('notices', 'select, insert, update');
call open_table('notices', 'dialectic_worker', 'insert');
