-- What calls cost: their postings, which end their holds.

-- Both sides of each cost, in dollars and in tokens. A limited account never goes below what it has:
-- should worst cases have been too small, the platform bears the rest, and the provider's cost stays
-- true. What is left of a limited account after each call is what was free before, and what its holds
-- are more than their costs; how far that sinks below its lowest point so far, or below zero, is what
-- the platform bears of the call. So a group costs what its calls cost one behind the other.
create or replace function charge(
  of_tenant uuid, closed holds[], made bigint[], costs_usd bigint[], costs_tokens bigint[]
) returns void language plpgsql as $$
declare
  posting_ids bigint[];
  account_ids uuid[];
  amounts bigint[];
begin
  with due as (
    select h.ordinality as nth, made[h.ordinality] as posting_id, h.provider, k.*
    from unnest(closed) with ordinality as h
    cross join lateral (values ('USD', h.usd_account_id, h.usd, costs_usd[h.ordinality]),
      ('token', h.token_account_id, h.tokens, costs_tokens[h.ordinality])
    ) as k (currency, payer_id, held, cost)
  ), levels as (
    select d.*, case when not a.unlimited then a.balance - a.held
        - sum(d.held) over (partition by d.payer_id)
        + sum(d.held - d.cost) over (partition by d.payer_id order by d.nth) end as level
    from due d join lateral (select p.* from accounts p
      where p.tenant_id = of_tenant and p.id = d.payer_id limit 1) as a on true
  ), shares as (
    select l.*, coalesce(least(0, min(l.level) over before)
        - least(0, min(l.level) over (partition by l.payer_id order by l.nth)), 0)::bigint as borne
    from levels l window before as (partition by l.payer_id order by l.nth
      rows between unbounded preceding and 1 preceding)
  ), providers as (
    select p.provider, p.currency,
      open_account(of_tenant, 'provider', p.provider, p.currency, true) as id
    from (select d.provider, d.currency from due d where d.cost <> 0
      group by d.provider, d.currency order by d.provider, d.currency = 'token') as p
  )
  select array_agg(s.posting_id order by s.nth, s.currency = 'token', side.place),
    array_agg(side.account_id order by s.nth, s.currency = 'token', side.place),
    array_agg(side.amount order by s.nth, s.currency = 'token', side.place)
  into posting_ids, account_ids, amounts
  from shares s join providers p on p.provider = s.provider and p.currency = s.currency
  cross join lateral (values (1, s.payer_id, s.borne - s.cost), (2, p.id, s.cost),
    (3, case when s.borne > 0 then
      open_account(of_tenant, 'platform', '', s.currency, true) end, -s.borne)
  ) as side (place, account_id, amount)
  where side.amount <> 0;
  perform book(of_tenant, posting_ids, account_ids, amounts);
end
$$;

-- Posts what calls cost and releases the rest of their holds. The first result of a call stands.
-- Returns the postings in the order of the calls.
create or replace function post_calls(
  of_tenant uuid, calls uuid[], purposes text[], costs_usd bigint[], costs_tokens bigint[],
  estimates boolean[], abouts jsonb[]
) returns bigint[] language plpgsql
  security definer set search_path = public, pg_temp
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  places bigint[];
  closed holds[];
  due_usd bigint[];
  due_tokens bigint[];
  made bigint[];
  posted bigint[];
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A cost', variadic costs_usd || costs_tokens);
  posted := array_fill(null::bigint, array[cardinality(calls)]);
  perform lock_payers_of(of_tenant, calls, purposes);
  with asked as (
    select distinct on (a.call_id, a.purpose) a.* from unnest(calls, purposes) with ordinality
      as a (call_id, purpose, place)
    order by a.call_id, a.purpose, a.place
  ), ended as (
    update holds h set status = 'posted', settled_at = app_now() from asked a
    where h.tenant_id = of_tenant and h.call_id = any (calls) and h.status = 'held'
      and h.call_id = a.call_id and h.purpose = a.purpose
    returning a.place, h as hold)
  select array_agg(e.place order by e.place), array_agg(e.hold order by e.place),
    array_agg(costs_usd[e.place] order by e.place), array_agg(costs_tokens[e.place] order by e.place)
  into places, closed, due_usd, due_tokens from ended e;
  if closed is not null then
    perform release_holds(of_tenant, closed, due_usd, due_tokens);
    with posting as (
      insert into postings (tenant_id, key, kind, content, session_id, call_id, estimated, details)
      select of_tenant, h.call_id || '/' || h.purpose, 'call',
        posting_content(due_usd[h.ordinality], due_tokens[h.ordinality],
          estimates[places[h.ordinality]]),
        h.session_id, h.call_id, estimates[places[h.ordinality]], abouts[places[h.ordinality]]
      from unnest(closed) with ordinality as h order by h.ordinality
      returning id)
    select array_agg(p.id order by p.id) into made from posting p;
    perform charge(of_tenant, closed, made, due_usd, due_tokens);
  end if;
  for nth in 1 .. cardinality(calls) loop
    posted[nth] := coalesce(made[array_position(places, nth::bigint)],
      posted_before(of_tenant, calls[nth], purposes[nth],
        posting_content(costs_usd[nth], costs_tokens[nth], estimates[nth])));
  end loop;
  return posted;
end
$$;

-- What tells a replay of a call's posting from a mistake.
create or replace function posting_content(usd bigint, tokens bigint, is_estimated boolean)
  returns text language sql stable as $$ select concat_ws('/', usd, tokens, is_estimated) $$;

-- The posting of a call whose hold is not open any more.
create or replace function posted_before(
  of_tenant uuid, of_call uuid, of_purpose text, of_content text
) returns bigint language plpgsql as $$
declare
  hold holds := lock_hold(of_tenant, of_call, of_purpose);
begin
  if hold.status <> 'posted' then
    raise exception 'the hold of call % is %', of_call, hold.status
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  return replayed_posting(of_tenant, of_call || '/' || of_purpose, of_content);
end
$$;

-- The same for one call.
create or replace function post_call(
  of_tenant uuid, of_call uuid, of_purpose text, cost_usd bigint, cost_tokens bigint,
  is_estimated boolean, about jsonb
) returns bigint language sql as $$
  select (post_calls(of_tenant, array[of_call], array[of_purpose], array[cost_usd],
    array[cost_tokens], array[is_estimated], array[about]))[1]
$$;
