import { requireRow } from '../db/require-row.ts';
import type { Transaction } from '../db/transaction.ts';
import { codeOf } from '../errors/errors.ts';
import type { ModelPrice } from '../models/prices.ts';
import { checkAmount } from './amounts.ts';
import type { BudgetScope, Currency } from './ledger.ts';

/** Work that costs money, known by the id of its call and what it is for. */
type CallKey = {
  readonly callId: string;
  readonly purpose: string;
};

/** What calls that belong to no job are for; `wallet history` and `wallet report` name it. */
export const OUTSIDE_PURPOSES = ['preflight', 'evaluation', 'search'] as const;

/** What a call may cost at most; `input…` is due as soon as anything has come back. */
export type WorstCase = {
  readonly usdMicros: number;
  readonly tokens: number;
  readonly inputUsdMicros: number;
  readonly inputTokens: number;
};

type NewHold = CallKey &
  WorstCase & {
    readonly sessionId: string | null;
    readonly provider: string;
    /** Whether the call is unplanned: it may then hold only a set share of the wallet. */
    readonly automatic?: boolean;
    /** The price at the time of the hold; null where it is unknown. */
    readonly price?: ModelPrice | null;
  };

/**
 * What became of the wish to spend. `wait`: calls in flight hold the rest; `budget`, `funds` and
 * `approval`: nothing is in flight that could help, so a person must decide; the rest are statuses
 * of a hold that the idempotency key already had.
 */
type HoldOutcome =
  | 'held'
  | 'wait'
  | 'budget'
  | 'funds'
  | 'approval'
  | 'posted'
  | 'void'
  | 'expired';

type Held = {
  /** What was left under the tightest limit before; null where there is none. */
  readonly usdLeft: number | null;
  readonly tokensLeft: number | null;
};

export type HoldResult = Held & {
  readonly outcome: HoldOutcome;
  /** The limit that is too low where a person must help: whose, and of what. */
  readonly shortScope: BudgetScope | 'user' | null;
  readonly shortCurrency: Currency | null;
};

/** Sets the worst case of a call aside; the same key with other content is refused. */
export async function holdFunds(tx: Transaction, hold: NewHold): Promise<HoldResult> {
  return tx.queryOne<HoldResult>(
    `select outcome, usd_left::float8 as "usdLeft", tokens_left::float8 as "tokensLeft",
       short_scope as "shortScope", short_currency as "shortCurrency"
     from hold_funds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [tx.tenantId, ...toColumns(hold)],
    'hold-funds',
  );
}

/**
 * As `holdFunds`, for a transaction whose commit goes with it: where nothing is held, or dollars are
 * limited and the price is unknown, it rolls all of it back, and `readRefusal` tells the outcome.
 */
export async function requireFunds(tx: Transaction, hold: NewHold): Promise<HoldResult> {
  const rows = await tx.queryForAll<Held & { readonly callId: string }>(
    `select call_id as "callId", usd_left::float8 as "usdLeft", tokens_left::float8 as "tokensLeft"
     from require_funds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    toColumns(hold),
    'require-funds',
    'money',
  );
  const { usdLeft, tokensLeft } = requireRow(
    rows.filter(({ callId }) => callId === hold.callId),
    'require_funds',
  );
  return { outcome: 'held', usdLeft, tokensLeft, shortScope: null, shortCurrency: null };
}

/** The outcome that made `requireFunds` fail; undefined where the error is another one. */
export function readRefusal(error: unknown): HoldResult | undefined {
  if (codeOf(error) !== REFUSED) return undefined;
  const { detail } = error as { readonly detail: string };
  return JSON.parse(detail) as HoldResult;
}

/** The SQLSTATE with which `require_funds` raises. */
const REFUSED = 'DX001';

function toColumns(hold: NewHold): unknown[] {
  checkAmount(hold.usdMicros, 'USD', 'The most that a call may cost');
  checkAmount(hold.tokens, 'token', 'The most that a call may use');
  return [
    hold.callId,
    hold.purpose,
    hold.sessionId,
    hold.provider,
    hold.usdMicros,
    hold.tokens,
    hold.inputUsdMicros,
    hold.inputTokens,
    hold.automatic ?? false,
    hold.price ? JSON.stringify(hold.price) : null,
  ];
}

/** What a call cost in the end, with what it was reckoned from. */
type CallCost = {
  readonly usdMicros: number;
  readonly tokens: number;
  /** Whether the provider reported no usage and the figures are ours. */
  readonly estimated: boolean;
  /** Model, price and usage as they are now: later prices change nothing. */
  readonly details: Readonly<Record<string, unknown>>;
};

/** Posts a call's cost and releases the rest of its hold; a replay returns the first posting. */
export async function postCall(tx: Transaction, key: CallKey, cost: CallCost): Promise<number> {
  const { id } = await tx.queryOne<{ id: number }>(
    'select post_call($1, $2, $3, $4, $5, $6, $7) as id',
    [tx.tenantId, ...toPosting(key, cost)],
    'post-call',
  );
  return id;
}

/** The same by one statement for all calls that are posted at once. */
export async function postWithOthers(tx: Transaction, key: CallKey, cost: CallCost): Promise<void> {
  const text = 'select post_calls(current_tenant(), $1, $2, $3, $4, $5, $6)';
  await tx.queryForAll(text, toPosting(key, cost), 'post-calls', 'money');
}

function toPosting({ callId, purpose }: CallKey, cost: CallCost): unknown[] {
  const { usdMicros, tokens, estimated, details } = cost;
  checkAmount(usdMicros, 'USD', 'The cost of a call');
  checkAmount(tokens, 'token', 'The use of a call');
  return [callId, purpose, usdMicros, tokens, estimated, JSON.stringify(details)];
}

/** Gives everything back that was set aside for a call which brought nothing. */
export async function voidHold(tx: Transaction, key: CallKey): Promise<void> {
  await tx.query(`select close_hold($1, $2, $3, 'void')`, [tx.tenantId, key.callId, key.purpose]);
}

/**
 * Settles holds that dead processes left open for finished jobs: no worker has their lease, so
 * none can post them. Returns how many there were.
 */
export async function settleLeftHolds(tx: Transaction): Promise<number> {
  await tx.query('select lock_wallets($1)', [tx.tenantId]);
  await dropAbandonedHolds(tx);
  const { n } = await tx.queryOne<{ n: number }>('select settle_left_holds($1) as n', [
    tx.tenantId,
  ]);
  return n;
}

/**
 * Gives back what a process held for calls outside of jobs before it died: no job tells that its owner
 * is gone, so they expire when no call lasts as long.
 */
export async function dropAbandonedHolds(tx: Transaction): Promise<void> {
  await tx.query(
    `select close_hold($1, h.call_id, h.purpose, 'expired') from (
       select call_id, purpose from holds
       where status = 'held' and purpose = any ($2) and created_at < app_now() - interval '2 hours'
       order by call_id) as h`,
    [tx.tenantId, OUTSIDE_PURPOSES],
  );
}
