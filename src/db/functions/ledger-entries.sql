-- Entries: append-only, balanced, and followed by their accounts.

create or replace function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: what was posted stays', tg_op, tg_table_name
    using errcode = 'DX000', hint = 'ledger_append_only';
end
$$;
create or replace trigger postings_stay before update or delete or truncate on postings
  for each statement execute function refuse_ledger_change();
create or replace trigger entries_stay before update or delete or truncate on entries
  for each statement execute function refuse_ledger_change();

-- Writes entries, those of one posting all at once. Each has its place among those of its account, and
-- the balance after it. The accounts that pay are locked by the caller, the others here.
create or replace function book(
  of_tenant uuid, postings bigint[], account_ids uuid[], amounts bigint[]
) returns void language plpgsql as $$
begin
  with locked as (
    select a.id, a.currency, a.balance, a.entry_count from accounts a
    where a.tenant_id = of_tenant and a.id = any (account_ids)
    order by a.kind desc, a.owner, a.currency = 'token' for update)
  insert into entries (tenant_id, posting_id, account_id, currency, amount, seq, balance)
  select of_tenant, g.posting_id, a.id, a.currency, g.amount,
    a.entry_count + row_number() over so_far, a.balance + sum(g.amount) over so_far
  from unnest(postings, account_ids, amounts) with ordinality
    as g (posting_id, account_id, amount, place)
  join locked a on a.id = g.account_id
  window so_far as (partition by a.id order by g.place) order by g.place;
end
$$;

-- The accounts follow their entries, and nothing else moves a balance. Every statement that writes
-- entries must leave each posting in balance: so all are at any time, and none is read again for it.
create or replace function follow_entries() returns trigger language plpgsql as $$
declare
  uneven bigint;
  owners bigint;
  followed bigint;
begin
  select e.posting_id into uneven from new_rows e
  group by e.tenant_id, e.posting_id, e.currency having sum(e.amount) <> 0 limit 1;
  if found then
    raise exception 'the entries of posting % do not sum to zero', uneven
      using errcode = 'DX000', hint = 'ledger_unbalanced';
  end if;
  with moved as (
    select c.tenant_id, c.account_id, count(*) as entries, sum(c.amount) as amount,
      min(c.seq - c.nth) as least_seq, max(c.seq - c.nth) as greatest_seq,
      min(c.balance - c.so_far) as least_balance, max(c.balance - c.so_far) as greatest_balance
    from (
      select e.*, row_number() over w as nth, sum(e.amount) over w as so_far from new_rows e
      window w as (partition by e.tenant_id, e.account_id order by e.seq)) as c
    group by c.tenant_id, c.account_id
  ), follow as (
    update accounts a set balance = a.balance + m.amount, entry_count = a.entry_count + m.entries
    from moved m where a.tenant_id = m.tenant_id and a.id = m.account_id
      and a.entry_count = m.least_seq and a.entry_count = m.greatest_seq
      and a.balance = m.least_balance and a.balance = m.greatest_balance
    returning 1
  )
  select (select count(*) from moved), (select count(*) from follow) into owners, followed;
  if followed <> owners then
    raise exception 'entries do not follow those of their account'
      using errcode = 'DX000', hint = 'ledger_unbalanced';
  end if;
  return null;
end
$$;
create or replace trigger entries_follow after insert on entries
  referencing new table as new_rows
  for each statement execute function follow_entries();
create or replace trigger accounts_follow before update on accounts
  for each row when (pg_trigger_depth() = 0
    and (old.balance <> new.balance or old.entry_count <> new.entry_count))
  execute function refuse_ledger_change();
