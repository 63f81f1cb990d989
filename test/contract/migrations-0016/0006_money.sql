-- Money: accounts, postings and their entries, holds, budgets.
--
-- Amounts are integers: millionths of a dollar, or tokens. Whoever moves money locks the accounts
-- that pay first (dollars, then tokens), then budgets, then the other accounts: so two movements
-- never wait for each other, and what was decided under the lock still holds at the commit.

create table accounts (
  tenant_id uuid not null references tenants,
  id uuid not null default gen_random_uuid(),
  kind text not null check (kind in ('user', 'project', 'platform', 'provider')),
  -- The project's id or the provider's name; empty where a tenant has one of the kind.
  owner text not null default '',
  currency text not null check (currency in ('USD', 'token')),
  unlimited boolean not null,
  -- Running sums: the entries so far and the open holds.
  balance bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  entry_count bigint not null default 0,
  -- The part of what is available that may be spent without asking.
  spending_share double precision not null default 0.2 check (spending_share between 0 and 1),
  primary key (tenant_id, id),
  unique (tenant_id, kind, owner, currency),
  unique (tenant_id, id, currency),
  constraint accounts_never_negative check (unlimited or balance >= held)
) with (fillfactor = 50);
call isolate_table('accounts', 'select, insert, update');

-- One movement of money. Its key makes it happen once; `content` tells a replay from a mistake.
create table postings (
  tenant_id uuid not null references tenants,
  id bigint generated always as identity,
  key text not null check (key <> ''),
  kind text not null check (kind in ('grant', 'opening', 'call', 'refund')),
  content text not null,
  session_id uuid,
  call_id uuid,
  refunds bigint,
  estimated boolean not null default false,
  -- Model, price and usage as they were at the time.
  details jsonb not null default '{}',
  created_at timestamptz not null default app_now(),
  primary key (tenant_id, id),
  unique (tenant_id, key),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, refunds) references postings
);
create index postings_of_session on postings (tenant_id, session_id) where session_id is not null;
create index postings_refunded on postings (tenant_id, refunds) where refunds is not null;
call isolate_table('postings', 'select, insert');

-- One side of a posting. `seq` and `balance` run by account: the last entry is the balance, and a
-- missing or changed one would show.
create table entries (
  tenant_id uuid not null,
  posting_id bigint not null,
  account_id uuid not null,
  currency text not null,
  amount bigint not null,
  seq bigint not null,
  balance bigint not null,
  primary key (tenant_id, account_id, seq),
  foreign key (tenant_id, posting_id) references postings,
  foreign key (tenant_id, account_id, currency) references accounts (tenant_id, id, currency)
);
create index entries_of_posting on entries (tenant_id, posting_id);
call isolate_table('entries', 'select, insert');

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: what was posted stays', tg_op, tg_table_name
    using errcode = 'DX000', hint = 'ledger_append_only';
end
$$;
create trigger postings_stay before update or delete or truncate on postings
  for each statement execute function refuse_ledger_change();
create trigger entries_stay before update or delete or truncate on entries
  for each statement execute function refuse_ledger_change();

-- The account follows its entries, and nothing else moves its balance.
create function book_entry() returns trigger language plpgsql as $$
begin
  update accounts a set balance = a.balance + new.amount, entry_count = a.entry_count + 1
  where a.tenant_id = new.tenant_id and a.id = new.account_id
  returning a.entry_count, a.balance into new.seq, new.balance;
  return new;
end
$$;
create trigger entries_book before insert on entries
  for each row execute function book_entry();
create trigger accounts_follow before update on accounts
  for each row when (pg_trigger_depth() = 0
    and (old.balance <> new.balance or old.entry_count <> new.entry_count))
  execute function refuse_ledger_change();

create function check_balanced() returns trigger language plpgsql as $$
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
create constraint trigger entries_balanced after insert on entries
  deferrable initially deferred for each row execute function check_balanced();

-- The worst case of one call, set aside before the request leaves. No key to model_calls: it is
-- written first, and work that is no model call is held in the same way.
create table holds (
  tenant_id uuid not null references tenants,
  call_id uuid not null,
  purpose text not null,
  session_id uuid,
  provider text not null,
  status text not null default 'held' check (status in ('held', 'posted', 'void', 'expired')),
  usd bigint not null check (usd >= 0),
  tokens bigint not null check (tokens >= 0),
  -- What of it is due as soon as anything has come back.
  input_usd bigint not null default 0,
  input_tokens bigint not null default 0,
  -- What it was reckoned at, for whoever settles it in the place of a dead process.
  price jsonb,
  usd_account_id uuid not null,
  token_account_id uuid not null,
  created_at timestamptz not null default app_now(),
  settled_at timestamptz,
  primary key (tenant_id, call_id, purpose),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, usd_account_id) references accounts,
  foreign key (tenant_id, token_account_id) references accounts
);
create index holds_open on holds (tenant_id, session_id) where status = 'held';
call isolate_table('holds', 'select, insert, update');

-- Hard caps. owner_id is a session, a project or the tenant itself.
create table budgets (
  tenant_id uuid not null references tenants,
  scope text not null check (scope in ('session', 'project', 'tenant')),
  owner_id uuid not null,
  currency text not null check (currency in ('USD', 'token')),
  amount bigint not null check (amount >= 0),
  spent bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  primary key (tenant_id, scope, owner_id, currency)
);
call isolate_table('budgets', 'select, insert, update, delete');

-- Whether a person agreed that calls of the session may take more than the set share.
alter table sessions add column spending_approved boolean not null default false;
-- By gate: which limit closed it, as weigh_call names it.
alter table sessions add column shortages jsonb not null default '{}';
alter table model_calls drop constraint model_calls_purpose_check;
alter table model_calls add constraint model_calls_purpose_check
  check (purpose in ('document', 'continuation', 'repair', 'compression', 'embedding'));

create function open_account(
  of_tenant uuid, of_kind text, of_owner text, of_currency text, without_limit boolean
) returns uuid language plpgsql as $$
declare
  found_id uuid;
begin
  loop
    select a.id into found_id from accounts a where a.tenant_id = of_tenant and a.kind = of_kind
      and a.owner = of_owner and a.currency = of_currency;
    if found then
      return found_id;
    end if;
    insert into accounts (tenant_id, kind, owner, currency, unlimited)
    values (of_tenant, of_kind, of_owner, of_currency, without_limit) on conflict do nothing;
  end loop;
end
$$;

-- Who pays for a project's calls: its own wallet where it has one, else the user's, which has no
-- limit until something is granted to it. The row is locked until the transaction ends.
create function lock_payer(of_tenant uuid, of_project uuid, of_currency text)
  returns accounts language plpgsql as $$
declare
  payer accounts;
begin
  loop
    select a.* into payer from accounts a
    where a.tenant_id = of_tenant and a.currency = of_currency
      and ((a.kind = 'user' and a.owner = '') or (a.kind = 'project' and a.owner = of_project::text))
    order by a.kind = 'user' limit 1 for update;
    if found then
      return payer;
    end if;
    perform open_account(of_tenant, 'user', '', of_currency, true);
  end loop;
end
$$;

-- Keeps every other movement of a tenant out until the transaction ends.
create function lock_wallets(of_tenant uuid) returns void language sql as $$
  select 1 from accounts a where a.tenant_id = of_tenant and a.kind in ('user', 'project')
  order by a.currency = 'token', a.kind, a.owner for update
$$;

-- The budgets that a session's calls count in.
create function budgets_of(of_tenant uuid, of_session uuid)
  returns setof budgets language sql stable rows 1 as $$
  select b.* from budgets b
  where b.tenant_id = of_tenant and (b.scope, b.owner_id) in (
    ('tenant', of_tenant), ('session', of_session),
    ('project', (select s.project_id from sessions s
      where s.tenant_id = of_tenant and s.id = of_session)))
$$;

create function add_to_budgets(
  of_tenant uuid, of_session uuid,
  held_usd bigint, held_tokens bigint, spent_usd bigint, spent_tokens bigint
) returns void language plpgsql as $$
begin
  if exists (select from budgets b where b.tenant_id = of_tenant) then
    update budgets b set
      held = b.held + case b.currency when 'USD' then held_usd else held_tokens end,
      spent = b.spent + case b.currency when 'USD' then spent_usd else spent_tokens end
    from budgets_of(of_tenant, of_session) as mine
    where b.tenant_id = mine.tenant_id and b.scope = mine.scope and b.owner_id = mine.owner_id
      and b.currency = mine.currency;
  end if;
end
$$;

-- Locks the budgets of a session; false if its tenant has none at all, which is the usual case.
create function lock_budgets(of_tenant uuid, of_session uuid) returns boolean
  language plpgsql as $$
begin
  if not exists (select from budgets b where b.tenant_id = of_tenant) then
    return false;
  end if;
  perform 1 from budgets b
  where (b.tenant_id, b.scope, b.owner_id, b.currency) in (
    select m.tenant_id, m.scope, m.owner_id, m.currency from budgets_of(of_tenant, of_session) m)
  order by b.scope, b.owner_id, b.currency for update;
  return true;
end
$$;

create function is_within(of_tenant uuid, of_session uuid, of_scope text, of_owner uuid)
  returns boolean language sql stable as $$
  select case of_scope
    when 'tenant' then true
    when 'session' then of_session is not distinct from of_owner
    else exists (select from sessions s where s.tenant_id = of_tenant and s.id = of_session
      and s.project_id = of_owner)
  end
$$;

-- Whether one of the open holds under a limit will be settled without a person: its job runs, is over
-- or will be claimed. Those of a paused session stay until it goes on, so nobody should wait for them;
-- nor for those of a session that nobody works on, which shows by a job that was due for a while.
-- Work that is no model call has no job; whoever does it settles it.
create function is_any_moving(
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
create function weigh_call(
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
create function hold_funds(
  of_tenant uuid, of_call uuid, of_purpose text, of_session uuid, of_provider text,
  worst_usd bigint, worst_tokens bigint, in_usd bigint, in_tokens bigint, automatic boolean,
  of_price jsonb default null,
  out outcome text, out usd_left bigint, out tokens_left bigint,
  out short_scope text, out short_currency text
) language plpgsql as $$
declare
  known holds;
  home record;
  usd accounts;
  tok accounts;
begin
  select s.project_id, s.spending_approved into home from sessions s
  where s.tenant_id = of_tenant and s.id = of_session;
  usd := lock_payer(of_tenant, home.project_id, 'USD');
  tok := lock_payer(of_tenant, home.project_id, 'token');
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
  if lock_budgets(of_tenant, of_session) or not usd.unlimited or not tok.unlimited then
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, usd, tok, worst_usd, worst_tokens, automatic) as w;
  end if;
  if outcome is not null and outcome <> 'approval'
    and settle_left_holds(of_tenant) > 0
  then
    usd := lock_payer(of_tenant, home.project_id, 'USD');
    tok := lock_payer(of_tenant, home.project_id, 'token');
    select w.* into outcome, usd_left, tokens_left, short_scope, short_currency
    from weigh_call(of_tenant, of_session, usd, tok, worst_usd, worst_tokens, automatic) as w;
  end if;
  if outcome is not null then
    return;
  end if;

  update accounts a set held = a.held + case a.id when usd.id then worst_usd else worst_tokens end
  where a.tenant_id = of_tenant and a.id in (usd.id, tok.id);
  perform add_to_budgets(of_tenant, of_session, worst_usd, worst_tokens, 0, 0);
  insert into holds (tenant_id, call_id, purpose, session_id, provider, usd, tokens, input_usd,
    input_tokens, price, usd_account_id, token_account_id)
  values (of_tenant, of_call, of_purpose, of_session, of_provider, worst_usd, worst_tokens, in_usd,
    in_tokens, of_price, usd.id, tok.id);
  outcome := 'held';
end
$$;

-- A hold with its payers locked; whoever changes a hold has these locks.
create function lock_hold(of_tenant uuid, of_call uuid, of_purpose text)
  returns holds language plpgsql as $$
declare
  hold holds;
begin
  perform 1 from accounts a join holds h on a.id in (h.usd_account_id, h.token_account_id)
  where a.tenant_id = of_tenant and h.tenant_id = of_tenant and h.call_id = of_call
    and h.purpose = of_purpose
  order by a.currency = 'token' for update of a;
  select h.* into hold from holds h
  where h.tenant_id = of_tenant and h.call_id = of_call and h.purpose = of_purpose;
  if not found then
    raise exception 'call % has no hold', of_call using errcode = 'DX000', hint = 'hold_missing';
  end if;
  return hold;
end
$$;

create function release_hold(hold holds, to_status text) returns void language plpgsql as $$
begin
  update holds h set status = to_status, settled_at = app_now()
  where h.tenant_id = hold.tenant_id and h.call_id = hold.call_id and h.purpose = hold.purpose;
  update accounts a
  set held = a.held - case a.id when hold.usd_account_id then hold.usd else hold.tokens end
  where a.tenant_id = hold.tenant_id and a.id in (hold.usd_account_id, hold.token_account_id);
  perform lock_budgets(hold.tenant_id, hold.session_id);
end
$$;

-- Both sides of a cost in one currency. A limited account never goes below what it has: should the
-- worst case have been too small, the platform bears the rest, and the provider's cost stays true.
create function charge(
  of_tenant uuid, of_posting bigint, payer_id uuid, of_provider text, of_currency text, cost bigint
) returns void language plpgsql as $$
declare
  paid bigint;
begin
  if cost = 0 then
    return;
  end if;
  select case when a.unlimited then cost else least(cost, a.balance - a.held) end into paid
  from accounts a where a.tenant_id = of_tenant and a.id = payer_id;
  insert into entries (tenant_id, posting_id, account_id, currency, amount)
  select of_tenant, of_posting, side.account_id, of_currency, side.amount
  from (values (1, payer_id, -paid),
    (2, open_account(of_tenant, 'provider', of_provider, of_currency, true), cost),
    (3, case when paid < cost then open_account(of_tenant, 'platform', '', of_currency, true) end,
      paid - cost)) as side (place, account_id, amount)
  where side.amount <> 0 order by side.place;
end
$$;

-- Posts what a call cost and releases the rest of its hold. The first result stands.
create function post_call(
  of_tenant uuid, of_call uuid, of_purpose text, cost_usd bigint, cost_tokens bigint,
  is_estimated boolean, about jsonb
) returns bigint language plpgsql as $$
declare
  hold holds := lock_hold(of_tenant, of_call, of_purpose);
  of_key text := of_call || '/' || of_purpose;
  of_content text := concat_ws('/', cost_usd, cost_tokens, is_estimated);
  made bigint;
begin
  if hold.status = 'posted' then
    return replayed_posting(of_tenant, of_key, of_content);
  end if;
  if hold.status <> 'held' then
    raise exception 'the hold of call % is %', of_call, hold.status
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  perform release_hold(hold, 'posted');
  perform add_to_budgets(of_tenant, hold.session_id, -hold.usd, -hold.tokens, cost_usd, cost_tokens);
  insert into postings (tenant_id, key, kind, content, session_id, call_id, estimated, details)
  values (of_tenant, of_key, 'call', of_content, hold.session_id, of_call, is_estimated, about)
  returning id into made;
  perform charge(of_tenant, made, hold.usd_account_id, hold.provider, 'USD', cost_usd);
  perform charge(of_tenant, made, hold.token_account_id, hold.provider, 'token', cost_tokens);
  return made;
end
$$;

-- The posting that a key already stands for; null if there is none.
create function replayed_posting(of_tenant uuid, of_key text, of_content text)
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

-- Gives a hold back, as void (the call brought nothing) or expired (nobody can post it any more).
-- Returns whether it is closed without a posting; expiry leaves what was posted alone.
create function close_hold(of_tenant uuid, of_call uuid, of_purpose text, to_status text)
  returns boolean language plpgsql as $$
declare
  hold holds := lock_hold(of_tenant, of_call, of_purpose);
begin
  if hold.status = 'held' then
    perform release_hold(hold, to_status);
    perform add_to_budgets(of_tenant, hold.session_id, -hold.usd, -hold.tokens, 0, 0);
    return true;
  end if;
  if hold.status = 'posted' and to_status = 'void' then
    raise exception 'the hold of call % is posted', of_call
      using errcode = 'DX000', hint = 'hold_closed';
  end if;
  return hold.status <> 'posted';
end
$$;

-- Settles holds of calls whose job is over, so that nobody can post them any more: the lease is
-- gone. What had arrived is posted as estimated, at four characters a token; the rest expires. Who
-- comes from a call has locks already, so it leaves wallets alone that others have locked.
create function settle_left_holds(of_tenant uuid) returns int language plpgsql as $$
declare
  wallets uuid[];
  h record;
  tokens_out bigint;
  cost bigint;
  settled int := 0;
begin
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
      error = '{"code": "lease_lost", "message": "Nobody was left to receive the answer."}'
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

-- Adds to a wallet, of the user or of one project. The first grant gives the user's wallet a limit:
-- what was spent until then is settled by an opening, so that what is granted is what is there. What
-- was left when a limit was taken away comes back with the next one.
create function grant_funds(
  of_tenant uuid, of_key text, of_project uuid, of_currency text, amount bigint, about jsonb
) returns bigint language plpgsql as $$
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

create function move_funds(
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
create function refund_call(
  of_tenant uuid, of_key text, of_posting bigint, back_usd bigint, back_tokens bigint, about jsonb
) returns bigint language plpgsql as $$
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

-- Sets a cap, or takes it away (null). What was spent and is held counts from the beginning: the
-- payers' locks keep every other movement of the tenant out until it is in force.
create function set_budget(
  of_tenant uuid, of_scope text, of_owner uuid, of_currency text, of_amount bigint
) returns void language plpgsql as $$
begin
  perform open_account(of_tenant, 'user', '', 'USD', true);
  perform open_account(of_tenant, 'user', '', 'token', true);
  perform lock_wallets(of_tenant);
  if of_amount is null then
    delete from budgets b where b.tenant_id = of_tenant and b.scope = of_scope
      and b.owner_id = of_owner and b.currency = of_currency;
    return;
  end if;
  insert into budgets (tenant_id, scope, owner_id, currency, amount, spent, held)
  select of_tenant, of_scope, of_owner, of_currency, of_amount,
    (select coalesce(sum(e.amount), 0) from postings p
     join entries e on e.tenant_id = of_tenant and e.posting_id = p.id and e.currency = of_currency
     join accounts a on a.tenant_id = of_tenant and a.id = e.account_id and a.kind = 'provider'
     where p.tenant_id = of_tenant and is_within(of_tenant, p.session_id, of_scope, of_owner)),
    (select coalesce(sum(case of_currency when 'USD' then h.usd else h.tokens end), 0) from holds h
     where h.tenant_id = of_tenant and h.status = 'held'
       and is_within(of_tenant, h.session_id, of_scope, of_owner))
  on conflict (tenant_id, scope, owner_id, currency) do update set amount = excluded.amount;
end
$$;
