-- Postings that move money between accounts, beside those of calls.

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
  of_content text;
  wallet uuid;
  known bigint;
  missing bigint;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('The grant', variadic array[amount]);
  of_content := concat_ws('/', 'grant', of_project, of_currency, amount);
  wallet := open_account(of_tenant, case when of_project is null then 'user' else 'project' end,
    coalesce(of_project::text, ''), of_currency, of_project is null);
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
  perform check_amounts('The wallet with this grant', variadic array[greatest(0, a.balance)]) from accounts a
  where a.tenant_id = of_tenant and a.id = wallet;
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
  perform book(of_tenant, array[made, made],
    array[wallet, open_account(of_tenant, 'platform', '', of_currency, true)],
    array[amount, -amount]);
  return made;
end
$$;

-- Gives back what a call cost, in whole or in part; never more than was paid for it.
create or replace function refund_call(
  of_tenant uuid, of_key text, of_posting bigint, back_usd bigint, back_tokens bigint, about jsonb
) returns bigint language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  of_content text;
  made bigint;
  charged record;
  side record;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A refund', variadic array[back_usd, back_tokens]);
  of_content := concat_ws('/', 'refund', of_posting, back_usd, back_tokens);
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
    perform book(of_tenant, array[made, made], array[side.payer,
      open_account(of_tenant, 'provider', charged.provider, side.currency, true)],
      array[side.amount, -side.amount]);
  end loop;
  perform add_to_budgets(of_tenant, charged.session_id, 0, 0, -back_usd, -back_tokens);
  return made;
end
$$;
