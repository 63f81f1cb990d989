-- Postings and their entries: append-only, balanced, and what moves money between accounts.

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

-- The account follows its entries, and nothing else moves its balance.
create or replace function book_entry() returns trigger language plpgsql as $$
begin
  update accounts a set balance = a.balance + new.amount, entry_count = a.entry_count + 1
  where a.tenant_id = new.tenant_id and a.id = new.account_id
  returning a.entry_count, a.balance into new.seq, new.balance;
  return new;
end
$$;
create or replace trigger entries_book before insert on entries
  for each row execute function book_entry();
create or replace trigger accounts_follow before update on accounts
  for each row when (pg_trigger_depth() = 0
    and (old.balance <> new.balance or old.entry_count <> new.entry_count))
  execute function refuse_ledger_change();

create or replace function check_balanced() returns trigger language plpgsql as $$
begin
  if exists (select from entries e
    where e.tenant_id = new.tenant_id and e.posting_id = new.posting_id
    group by e.currency having sum(e.amount) <> 0)
  then
    raise exception 'the entries of posting % do not sum to zero', new.posting_id
      using errcode = 'DX000', hint = 'ledger_unbalanced';
  end if;
  return null;
end
$$;
drop trigger if exists entries_balanced on entries;
create constraint trigger entries_balanced after insert on entries
  deferrable initially deferred for each row execute function check_balanced();

-- Both sides of a cost, in dollars and in tokens. A limited account never goes below what it has: should
-- the worst case have been too small, the platform bears the rest, and the provider's cost stays true.
-- The entries of the payers come first, dollars before tokens: their accounts are locked already.
create or replace function charge(hold holds, of_posting bigint, cost_usd bigint, cost_tokens bigint)
  returns void language plpgsql as $$
begin
  insert into entries (tenant_id, posting_id, account_id, currency, amount)
  select hold.tenant_id, of_posting, side.account_id, c.currency, side.amount
  from (
    select a.id, a.currency, k.cost,
      case when a.unlimited then k.cost else least(k.cost, a.balance - a.held) end as paid
    from (values (hold.usd_account_id, cost_usd), (hold.token_account_id, cost_tokens))
      as k (payer_id, cost)
    join accounts a on a.tenant_id = hold.tenant_id and a.id = k.payer_id
    where k.cost <> 0
  ) as c
  cross join lateral (values (1, c.id, -c.paid),
    (2, open_account(hold.tenant_id, 'provider', hold.provider, c.currency, true), c.cost),
    (3, case when c.paid < c.cost then
      open_account(hold.tenant_id, 'platform', '', c.currency, true) end, c.paid - c.cost)
  ) as side (place, account_id, amount)
  where side.amount <> 0 order by c.currency = 'token', side.place;
end
$$;

-- Posts what a call cost and releases the rest of its hold. The first result stands.
create or replace function post_call(
  of_tenant uuid, of_call uuid, of_purpose text, cost_usd bigint, cost_tokens bigint,
  is_estimated boolean, about jsonb
) returns bigint language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  hold holds;
  of_key text := of_call || '/' || of_purpose;
  of_content text := concat_ws('/', cost_usd, cost_tokens, is_estimated);
  made bigint;
begin
  perform lock_payers_of(of_tenant, of_call, of_purpose);
  update holds h set status = 'posted', settled_at = app_now()
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose
    and h.status = 'held'
  returning h.* into hold;
  if not found then
    hold := lock_hold(of_tenant, of_call, of_purpose);
    if hold.status = 'posted' then
      return replayed_posting(of_tenant, of_key, of_content);
    end if;
    raise exception 'the hold of call % is %', of_call, hold.status
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  perform release_hold(hold, cost_usd, cost_tokens);
  insert into postings (tenant_id, key, kind, content, session_id, call_id, estimated, details)
  values (of_tenant, of_key, 'call', of_content, hold.session_id, of_call, is_estimated, about)
  returning id into made;
  perform charge(hold, made, cost_usd, cost_tokens);
  return made;
end
$$;

-- The posting that a key already stands for; null if there is none.
create or replace function replayed_posting(of_tenant uuid, of_key text, of_content text)
  returns bigint language plpgsql stable as $$
declare
  known record;
begin
  select p.id, p.content into known from postings p where p.tenant_id = of_tenant and p.key = of_key;
  if known.content <> of_content then
    raise exception 'the key % already stands for another posting', of_key
      using errcode = 'DX000', hint = 'idempotency_mismatch';
  end if;
  return known.id;
end
$$;

-- Adds to a wallet, of the user or of one project. The first grant gives the user's wallet a limit:
-- what was spent until then is settled by an opening, so that what is granted is what is there. What
-- was left when a limit was taken away comes back with the next one.
create or replace function grant_funds(
  of_tenant uuid, of_key text, of_project uuid, of_currency text, amount bigint, about jsonb
) returns bigint language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  of_content text := concat_ws('/', 'grant', of_project, of_currency, amount);
  wallet uuid := open_account(of_tenant, case when of_project is null then 'user' else 'project' end,
    coalesce(of_project::text, ''), of_currency, of_project is null);
  known bigint;
  missing bigint;
begin
  perform 1 from accounts a where a.tenant_id = of_tenant and a.id = wallet for update;
  known := replayed_posting(of_tenant, of_key, of_content);
  if known is not null then
    return known;
  end if;
  select a.held - a.balance into missing from accounts a
  where a.tenant_id = of_tenant and a.id = wallet and a.unlimited;
  if missing > 0 then
    perform move_funds(of_tenant, 'opening/' || of_key, 'opening', of_content, wallet, of_currency,
      missing, about);
  end if;
  known := move_funds(of_tenant, of_key, 'grant', of_content, wallet, of_currency, amount, about);
  update accounts a set unlimited = false
  where a.tenant_id = of_tenant and a.id = wallet and a.unlimited;
  return known;
end
$$;

create or replace function move_funds(
  of_tenant uuid, of_key text, of_kind text, of_content text, wallet uuid, of_currency text,
  amount bigint, about jsonb
) returns bigint language plpgsql as $$
declare
  made bigint;
begin
  insert into postings (tenant_id, key, kind, content, details)
  values (of_tenant, of_key, of_kind, of_content, about) returning id into made;
  insert into entries (tenant_id, posting_id, account_id, currency, amount)
  values (of_tenant, made, wallet, of_currency, amount);
  insert into entries (tenant_id, posting_id, account_id, currency, amount)
  values (of_tenant, made, open_account(of_tenant, 'platform', '', of_currency, true), of_currency,
    -amount);
  return made;
end
$$;

-- Gives back what a call cost, in whole or in part; never more than was paid for it.
create or replace function refund_call(
  of_tenant uuid, of_key text, of_posting bigint, back_usd bigint, back_tokens bigint, about jsonb
) returns bigint language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  of_content text := concat_ws('/', 'refund', of_posting, back_usd, back_tokens);
  made bigint;
  charged record;
  side record;
begin
  perform 1 from accounts a where a.tenant_id = of_tenant and a.kind in ('user', 'project')
    and a.id in (select e.account_id from entries e
      where e.tenant_id = of_tenant and e.posting_id = of_posting)
  order by a.currency = 'token' for update;
  made := replayed_posting(of_tenant, of_key, of_content);
  if made is not null then
    return made;
  end if;
  select p.session_id, h.provider into charged from postings p
  join holds h on h.tenant_id = of_tenant and p.key = h.call_id || '/' || h.purpose
    and h.call_id = p.call_id
  where p.tenant_id = of_tenant and p.id = of_posting and p.kind = 'call';
  if not found then
    raise exception 'no call was posted as %', of_posting using errcode = 'DX000', hint = 'not_found';
  end if;
  perform lock_budgets(of_tenant, charged.session_id);
  insert into postings (tenant_id, key, kind, content, session_id, refunds, details)
  values (of_tenant, of_key, 'refund', of_content, charged.session_id, of_posting, about)
  returning id into made;
  for side in
    select back.currency, back.amount, (
      select a.id from entries e join accounts a on a.tenant_id = of_tenant and a.id = e.account_id
      where e.tenant_id = of_tenant and e.posting_id = of_posting and e.currency = back.currency
        and a.kind in ('user', 'project')) as payer
    from (values ('USD', back_usd), ('token', back_tokens)) as back (currency, amount)
    where back.amount > 0
  loop
    if side.payer is null or side.amount > coalesce((select -sum(e.amount) from entries e
      join postings p on p.tenant_id = of_tenant and p.id = e.posting_id
      where e.tenant_id = of_tenant and (p.id = of_posting or p.refunds = of_posting)
        and e.account_id = side.payer), 0)
    then
      raise exception 'more than was paid cannot be given back'
        using errcode = 'DX000', hint = 'refund_too_large';
    end if;
    insert into entries (tenant_id, posting_id, account_id, currency, amount)
    values (of_tenant, made, side.payer, side.currency, side.amount);
    insert into entries (tenant_id, posting_id, account_id, currency, amount)
    values (of_tenant, made, open_account(of_tenant, 'provider', charged.provider, side.currency,
      true), side.currency, -side.amount);
  end loop;
  perform add_to_budgets(of_tenant, charged.session_id, 0, 0, -back_usd, -back_tokens);
  return made;
end
$$;
