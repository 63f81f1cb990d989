-- Money: accounts, postings and their entries, holds, budgets.
--
-- Amounts are integers: millionths of a dollar, or tokens. The functions of functions/ledger-*.sql move
-- them.

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
