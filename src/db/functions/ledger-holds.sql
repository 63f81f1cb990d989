-- Holds: the worst case of each call in flight, set aside before its request leaves.

-- Whether one of the open holds under a limit will be settled without a person: its job runs, is over
-- or will be claimed. Those of a paused session stay until it goes on, so no call should wait for them;
-- nor for those of a session without a worker, which shows by a job that was due for a while.
-- Work that is no model call has no job; the code that does it settles it.
create or replace function is_any_moving(
  of_tenant uuid, of_scope text, of_owner uuid, asking_session uuid
) returns boolean language sql stable as $$
  select exists (select from holds h
    left join model_calls c on c.tenant_id = of_tenant and c.id = h.call_id
    left join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
    left join sessions s on s.tenant_id = of_tenant and s.id = j.session_id
    where h.tenant_id = of_tenant and h.status = 'held'
      and (j.id is null or j.status = 'processing' or is_over(j.status)
        or (s.status = 'running' and s.gates = '{}' and (s.id = asking_session
          or j.run_after > app_now() - interval '30 seconds' or exists (select from jobs o
            where o.tenant_id = of_tenant and o.session_id = s.id and o.status = 'processing'))))
      and case of_scope when 'account' then of_owner in (h.usd_account_id, h.token_account_id)
        else is_within(of_tenant, h.session_id, of_scope, of_owner) end)
$$;

-- What a call would find: how much is left under every limit, and whether the worst case fits. The
-- outcome is null (it fits), `wait` (calls in flight hold the rest) or the gate that must close; then
-- the scope (of a budget, or the kind of the wallet) and the currency say which limit is too low.
create or replace function weigh_call(
  of_tenant uuid, of_session uuid, usd accounts, tok accounts,
  worst_usd bigint, worst_tokens bigint, automatic boolean,
  out outcome text, out usd_left bigint, out tokens_left bigint,
  out short_scope text, out short_currency text
) language sql as $$
  select case
      when bool_or(l.short) then coalesce(min(l.gate) filter (where l.stuck), 'wait')
      when automatic and bool_or(l.needed > l.share * l.available) then 'approval'
    end,
    min(l.available) filter (where l.currency = 'USD'),
    min(l.available) filter (where l.currency = 'token'),
    (array_agg(l.scope order by l.gate, l.scope, l.currency) filter (where l.stuck))[1],
    (array_agg(l.currency order by l.gate, l.scope, l.currency) filter (where l.stuck))[1]
  from (
    select k.*, k.needed > 0 and k.available < k.needed as short,
      -- Asked only where something is short: this is the way of every call.
      case when k.needed > 0 and k.available < k.needed then k.held = 0 or not is_any_moving(
        of_tenant, case k.gate when 'funds' then 'account' else k.scope end, k.owner,
        of_session) end as stuck
    from (
      select 'budget' as gate, b.scope, b.owner_id as owner, b.currency, b.held,
        b.amount - b.spent - b.held as available, null::double precision as share,
        case b.currency when 'USD' then worst_usd else worst_tokens end as needed
      from budgets_of(of_tenant, of_session) as b
      union all
      select 'funds', a.kind, a.id, a.currency, a.held, a.balance - a.held, a.spending_share,
        case a.currency when 'USD' then worst_usd else worst_tokens end
      from unnest(array[usd, tok]) as a where not a.unlimited
    ) as k
  ) as l
$$;

-- Sets the worst case of a call aside. Outcomes: held; or, for a key that is known, the status of
-- its hold; or wait, budget, funds, approval, with nothing changed.
create or replace function hold_funds(
  of_tenant uuid, of_call uuid, of_purpose text, of_session uuid, of_provider text,
  worst_usd bigint, worst_tokens bigint, in_usd bigint, in_tokens bigint, automatic boolean,
  of_price jsonb default null,
  out outcome text, out usd_left bigint, out tokens_left bigint,
  out short_scope text, out short_currency text
) language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  known holds;
  home record;
  payers record;
  has_budgets boolean;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A hold', variadic array[worst_usd, worst_tokens, in_usd, in_tokens]);
  select s.project_id, s.spending_approved into home from sessions s
  where s.tenant_id = of_tenant and s.id = of_session;
  payers := lock_payers(of_tenant, home.project_id);
  select h.* into known from holds h
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
  if found then
    if (known.session_id, known.provider, known.usd, known.tokens)
      is distinct from (of_session, of_provider, worst_usd, worst_tokens)
    then
      raise exception 'call % already has another hold', of_call
        using errcode = 'DX000', hint = 'idempotency_mismatch';
    end if;
    outcome := known.status;
    return;
  end if;

  automatic := automatic and home.spending_approved is not true;
  has_budgets := lock_budgets(of_tenant, of_session);
  if has_budgets or not (payers.usd).unlimited or not (payers.tok).unlimited then
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, payers.usd, payers.tok, worst_usd, worst_tokens,
      automatic) as w;
  end if;
  if outcome is not null and outcome <> 'approval'
    and settle_left_holds(of_tenant) > 0
  then
    payers := lock_payers(of_tenant, home.project_id);
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, payers.usd, payers.tok, worst_usd, worst_tokens,
      automatic) as w;
  end if;
  if outcome is not null then
    return;
  end if;

  update accounts a
  set held = a.held + case a.id when (payers.usd).id then worst_usd else worst_tokens end
  where a.tenant_id = of_tenant and a.id in ((payers.usd).id, (payers.tok).id);
  if has_budgets then
    perform add_to_budgets(of_tenant, of_session, worst_usd, worst_tokens, 0, 0);
  end if;
  insert into holds (tenant_id, call_id, purpose, session_id, provider, usd, tokens, input_usd,
    input_tokens, price, usd_account_id, token_account_id)
  values (of_tenant, of_call, of_purpose, of_session, of_provider, worst_usd, worst_tokens, in_usd,
    in_tokens, of_price, (payers.usd).id, (payers.tok).id);
  outcome := 'held';
end
$$;

-- Holds the worst cases of new calls of one session where nothing limits them. False, with nothing held,
-- where something may, or where one of them has a hold already.
create or replace function hold_unlimited(
  of_tenant uuid, calls uuid[], purposes text[], of_session uuid, providers text[],
  worst_usd bigint[], worst_tokens bigint[], in_usd bigint[], in_tokens bigint[], prices jsonb[]
) returns boolean language plpgsql
  security definer set search_path = public, pg_temp
  set plan_cache_mode = force_generic_plan as $$
declare
  payers record;
begin
  perform require_tenant(of_tenant);
  perform check_amounts('A hold', variadic worst_usd || worst_tokens || in_usd || in_tokens);
  payers := lock_payers(of_tenant, (select s.project_id from sessions s
    where s.tenant_id = of_tenant and s.id = of_session));
  if not (payers.usd).unlimited or not (payers.tok).unlimited
    or exists (select from budgets b where b.tenant_id = of_tenant)
    or exists (select from holds h where h.tenant_id = of_tenant and h.call_id = any (calls))
  then
    return false;
  end if;
  update accounts a set held = a.held + case a.id
    when (payers.usd).id then (select sum(u.amount) from unnest(worst_usd) as u (amount))
    else (select sum(t.amount) from unnest(worst_tokens) as t (amount)) end
  where a.tenant_id = of_tenant and a.id in ((payers.usd).id, (payers.tok).id);
  insert into holds (tenant_id, call_id, purpose, session_id, provider, usd, tokens, input_usd,
    input_tokens, price, usd_account_id, token_account_id)
  select of_tenant, h.call_id, h.purpose, of_session, h.provider, h.usd, h.tokens, h.in_usd,
    h.in_tokens, h.price, (payers.usd).id, (payers.tok).id
  from unnest(calls, purposes, providers, worst_usd, worst_tokens, in_usd, in_tokens, prices)
    as h (call_id, purpose, provider, usd, tokens, in_usd, in_tokens, price);
  return true;
end
$$;

-- As hold_funds, for statements that are sent with their commit, and for several calls: what is not held
-- is raised, with the outcome as detail, and so is a hold without a price where dollars are limited.
create or replace function require_funds(
  calls uuid[], purposes text[], sessions uuid[], providers text[], worst_usd bigint[],
  worst_tokens bigint[], in_usd bigint[], in_tokens bigint[], automatic boolean[], prices jsonb[]
) returns table (call_id uuid, usd_left bigint, tokens_left bigint) language plpgsql as $$
declare
  held record;
begin
  if sessions[1] = all (sessions) and hold_unlimited(current_tenant(), calls, purposes, sessions[1],
    providers, worst_usd, worst_tokens, in_usd, in_tokens, prices)
  then
    return query select c.id, null::bigint, null::bigint from unnest(calls) as c (id);
    return;
  end if;
  for at in 1..cardinality(calls) loop
    select h.* into held from hold_funds(current_tenant(), calls[at], purposes[at], sessions[at],
      providers[at], worst_usd[at], worst_tokens[at], in_usd[at], in_tokens[at], automatic[at],
      prices[at]) as h;
    if held.outcome <> 'held' or (prices[at] is null and held.usd_left is not null) then
      raise exception 'nothing is held for call %: %', calls[at], held.outcome
        using errcode = 'DX001',
        detail = json_build_object('outcome', held.outcome, 'usdLeft', held.usd_left,
          'tokensLeft', held.tokens_left, 'shortScope', held.short_scope,
          'shortCurrency', held.short_currency);
    end if;
    call_id := calls[at];
    usd_left := held.usd_left;
    tokens_left := held.tokens_left;
    return next;
  end loop;
end
$$;

-- Locks the payers of holds; every change of a hold needs these locks. They are found by their key,
-- since a hold keeps its payers.
create or replace function lock_payers_of(of_tenant uuid, calls uuid[], purposes text[])
  returns void language plpgsql as $$
begin
  perform 1 from accounts a
  where a.tenant_id = of_tenant and a.id = any (array(
    select unnest(array[h.usd_account_id, h.token_account_id]) from holds h
    where h.tenant_id = of_tenant and h.call_id = any (calls) and h.purpose = any (purposes)))
  order by a.currency = 'token', a.kind, a.owner for update;
end
$$;

-- A hold with its payers locked.
create or replace function lock_hold(of_tenant uuid, of_call uuid, of_purpose text)
  returns holds language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  hold holds;
begin
  perform require_tenant(of_tenant);
  perform lock_payers_of(of_tenant, array[of_call], array[of_purpose]);
  select h.* into hold from holds h
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
  if not found then
    raise exception 'call % has no hold', of_call using errcode = 'DX000', hint = 'hold_missing';
  end if;
  return hold;
end
$$;

-- Lowers what the payers of holds have set aside, and what their budgets have, by what they cost.
create or replace function release_holds(
  of_tenant uuid, released holds[], costs_usd bigint[], costs_tokens bigint[]
) returns void language plpgsql as $$
declare
  home record;
begin
  update accounts a set held = a.held - r.amount
  from (
    select k.payer_id, sum(k.amount) as amount from unnest(released) as h
    cross join lateral (values (h.usd_account_id, h.usd), (h.token_account_id, h.tokens))
      as k (payer_id, amount)
    group by k.payer_id) as r
  where a.tenant_id = of_tenant and a.id = r.payer_id;
  if exists (select from budgets b where b.tenant_id = of_tenant) then
    for home in
      select h.session_id, sum(h.usd)::bigint as usd, sum(h.tokens)::bigint as tokens,
        sum(costs_usd[h.ordinality])::bigint as cost_usd,
        sum(costs_tokens[h.ordinality])::bigint as cost_tokens
      from unnest(released) with ordinality as h group by h.session_id order by h.session_id
    loop
      perform lock_budgets(of_tenant, home.session_id);
      perform add_to_budgets(of_tenant, home.session_id, -home.usd, -home.tokens, home.cost_usd,
        home.cost_tokens);
    end loop;
  end if;
end
$$;

-- Gives a hold back, as void (the call brought nothing) or expired (its lease is gone, so no worker can post it).
-- Returns whether it is closed without a posting; expiry leaves what was posted alone.
create or replace function close_hold(of_tenant uuid, of_call uuid, of_purpose text, to_status text)
  returns boolean language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  hold holds;
begin
  perform require_tenant(of_tenant);
  if to_status not in ('void', 'expired') then
    raise exception 'a hold that is closed is void or expired, not %', to_status
      using errcode = 'DX000', hint = 'internal_error';
  end if;
  hold := lock_hold(of_tenant, of_call, of_purpose);
  if hold.status = 'held' then
    update holds h set status = to_status, settled_at = app_now()
    where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
    perform release_holds(of_tenant, array[hold], array[0], array[0]);
    return true;
  end if;
  if hold.status = 'posted' and to_status = 'void' then
    raise exception 'the hold of call % is posted', of_call
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  return hold.status <> 'posted';
end
$$;

-- Settles holds of calls whose job is over, so that no worker can post them: the lease is
-- gone. What had arrived is posted as estimated, at four characters a token; the rest expires. A
-- transaction that settles a call has locks already, so it skips wallets that another one has locked.
create or replace function settle_left_holds(of_tenant uuid) returns int language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  wallets uuid[];
  h record;
  tokens_out bigint;
  cost bigint;
  settled int;
begin
  perform require_tenant(of_tenant);
  settled := 0;
  select array_agg(w.id) into wallets from (
    select a.id from accounts a where a.tenant_id = of_tenant and exists (
      select from holds l join model_calls c on c.tenant_id = of_tenant and c.id = l.call_id
      join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
      where l.tenant_id = of_tenant and l.status = 'held' and is_over(j.status)
        and a.id in (l.usd_account_id, l.token_account_id))
    order by a.currency = 'token', a.kind, a.owner for update skip locked) as w;
  for h in
    select l.*, c.model, (select coalesce(sum(length(p.body)), 0) from call_pieces p
      where p.tenant_id = of_tenant and p.call_id = l.call_id) as chars
    from holds l join model_calls c on c.tenant_id = of_tenant and c.id = l.call_id
    join jobs j on j.tenant_id = of_tenant and j.id = c.job_id
    where l.tenant_id = of_tenant and l.status = 'held' and is_over(j.status)
      and l.usd_account_id = any (wallets) and l.token_account_id = any (wallets)
    order by l.provider, l.call_id
  loop
    tokens_out := least((h.chars + 3) / 4, h.tokens - h.input_tokens);
    cost := h.input_usd + case when tokens_out = 0 then 0
      else ceil((h.usd - h.input_usd)::numeric * tokens_out / (h.tokens - h.input_tokens)) end;
    update model_calls c set finished_at = app_now(), usage_estimated = h.chars > 0,
      status = case when h.chars > 0 then 'cut' else 'failed' end,
      input_tokens = case when h.chars > 0 then h.input_tokens end,
      output_tokens = case when h.chars > 0 then tokens_out end,
      cost_micros = case when h.chars > 0 then cost else 0 end,
      error = '{"code": "lease_lost", "message": "The worker ended before the answer arrived."}'
    where c.tenant_id = of_tenant and c.id = h.call_id and c.status = 'sent';
    if h.chars > 0 then
      perform post_call(of_tenant, h.call_id, h.purpose, cost, h.input_tokens + tokens_out, true,
        jsonb_build_object('model', h.model, 'price', h.price, 'responseId', null,
          'usage', jsonb_build_object('inputTokens', h.input_tokens, 'outputTokens', tokens_out,
            'cachedInputTokens', 0, 'cacheWriteTokens', 0, 'estimated', true)));
    else
      perform close_hold(of_tenant, h.call_id, h.purpose, 'expired');
    end if;
    delete from call_pieces p where p.tenant_id = of_tenant and p.call_id = h.call_id;
    settled := settled + 1;
  end loop;
  return settled;
end
$$;
