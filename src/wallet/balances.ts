import type { Transaction } from '../db/transaction.ts';
import type { BudgetScope, Currency } from './ledger.ts';

/**
 * One account with its running sums; amounts are micro-dollars or tokens. They are read as doubles,
 * which are exact up to 2^53: an older store may hold a row above that, and must stay readable.
 */
export type Balance = {
  readonly kind: 'user' | 'project' | 'platform' | 'provider';
  /** The project's id, the provider's name. */
  readonly owner: string;
  readonly currency: Currency;
  readonly balance: number;
  readonly held: number;
  readonly unlimited: boolean;
};

/** All accounts of a tenant; the time it takes does not depend on how much was posted. */
export function readBalances(tx: Transaction): Promise<Balance[]> {
  return tx.query<Balance>(
    `select kind, owner, currency, balance::float8 as balance, held::float8 as held, unlimited
     from accounts order by kind = 'provider', kind desc, owner, currency`,
  );
}

export type BudgetState = {
  readonly scope: BudgetScope;
  readonly ownerId: string;
  readonly currency: Currency;
  readonly amount: number;
  readonly spent: number;
  readonly held: number;
};

export function readBudgets(tx: Transaction): Promise<BudgetState[]> {
  return tx.query<BudgetState>(
    `select scope, owner_id as "ownerId", currency, amount::float8 as amount,
       spent::float8 as spent, held::float8 as held
     from budgets order by scope desc, owner_id, currency`,
  );
}

/** One side of a posting with what it was for. */
export type LedgerEntry = {
  readonly posting: number;
  readonly kind: 'grant' | 'opening' | 'call' | 'refund';
  readonly account: Balance['kind'];
  readonly owner: string;
  readonly currency: Currency;
  readonly amount: number;
  readonly balance: number;
  readonly call: string | null;
  /** What a call was for: `generation`, `embedding`, `preflight`, `evaluation`; null for the rest. */
  readonly purpose: string | null;
  readonly session: string | null;
  readonly estimated: boolean;
  readonly model: string | null;
  /** The rates that held when it was posted. */
  readonly price: unknown;
  readonly note: string | null;
  readonly at: Date;
};

const ENTRIES = `select p.id as posting, p.kind, a.kind as account, a.owner, e.currency,
    e.amount::float8 as amount, e.balance::float8 as balance,
    p.call_id as call, case p.kind when 'call' then substring(p.key from '[^/]*$') end as purpose,
    p.session_id as session, p.estimated,
    p.details->>'model' as model, p.details->'price' as price, p.details->>'note' as note,
    p.created_at as at
  from postings p
  join entries e on e.tenant_id = p.tenant_id and e.posting_id = p.id
  join accounts a on a.tenant_id = e.tenant_id and a.id = e.account_id`;

/** What moved on the wallets, the newest first. */
export function readHistory(tx: Transaction, most: number) {
  return tx.query<LedgerEntry>(
    `${ENTRIES} where a.kind in ('user', 'project')
     order by p.id desc, e.currency limit $1`,
    [most],
  );
}

/** Every side of every posting of a session, in order. */
export function readSessionEntries(tx: Transaction, sessionId: string) {
  return tx.query<LedgerEntry>(
    `${ENTRIES} where p.session_id = $1
     order by p.id, e.currency desc, e.amount`,
    [sessionId],
  );
}
