import type { Transaction } from '../db/transaction.ts';
import { checkAmount } from './amounts.ts';

export type Currency = 'USD' | 'token';

type Grant = {
  /** The same key grants once. */
  readonly key: string;
  readonly currency: Currency;
  /** Micro-dollars, or tokens. */
  readonly amount: number;
  /** The project that gets a wallet of its own; the user's wallet where absent. */
  readonly projectId?: string | null;
  readonly note?: string;
};

/** Adds to a wallet, which has a limit from then on; returns the posting's id. */
export async function grantFunds(tx: Transaction, grant: Grant): Promise<number> {
  checkAmount(grant.amount, grant.currency, 'The grant');
  const { id } = await tx.queryOne<{ id: number }>(
    'select grant_funds($1, $2, $3, $4, $5, $6) as id',
    [
      tx.tenantId,
      grant.key,
      grant.projectId ?? null,
      grant.currency,
      grant.amount,
      JSON.stringify(grant.note ? { note: grant.note } : {}),
    ],
  );
  return id;
}

/**
 * Takes the limit off the user's wallet or that of one project: for those who pay providers with
 * keys of their own.
 */
export async function removeLimit(
  tx: Transaction,
  currency: Currency,
  projectId: string | null = null,
) {
  const wallet = [tx.tenantId, projectId ? 'project' : 'user', projectId ?? '', currency];
  await tx.query('select remove_limit($1, $2, $3, $4)', wallet);
}

/** Sets the part of a limited wallet that may be spent without asking. */
export async function setSpendingShare(tx: Transaction, share: number) {
  await tx.query('select set_spending_share($1, $2)', [tx.tenantId, share]);
}

type Refund = {
  readonly key: string;
  readonly postingId: number;
  readonly usdMicros: number;
  readonly tokens: number;
  readonly note?: string;
};

/** Gives back what a call cost, or a part of it; returns the posting's id. */
export async function refundCall(tx: Transaction, refund: Refund): Promise<number> {
  const { id } = await tx.queryOne<{ id: number }>(
    'select refund_call($1, $2, $3, $4, $5, $6) as id',
    [
      tx.tenantId,
      refund.key,
      refund.postingId,
      refund.usdMicros,
      refund.tokens,
      JSON.stringify(refund.note ? { note: refund.note } : {}),
    ],
  );
  return id;
}

/** What a budget caps: one run, all runs of a project, or everything. */
export type BudgetScope = 'session' | 'project' | 'tenant';

type NewBudget = {
  readonly scope: BudgetScope;
  /** The session, the project, or the tenant itself. */
  readonly ownerId: string;
  readonly currency: Currency;
  /** All that may be spent, what was spent before included; null takes the cap away. */
  readonly amount: number | null;
};

/** Sets a hard cap; what was spent and is held until now counts. */
export async function setBudget(tx: Transaction, budget: NewBudget): Promise<void> {
  const { scope, ownerId, currency, amount } = budget;
  if (amount !== null) checkAmount(amount, currency, 'The budget');
  await tx.query('select set_budget($1, $2, $3, $4, $5)', [
    tx.tenantId,
    scope,
    ownerId,
    currency,
    amount,
  ]);
}

/** A limit that closed a gate: a budget's scope and currency, or whose wallet it is. */
export type Shortage = { readonly scope: BudgetScope | 'user'; readonly currency: Currency };

/** Keeps for the person who opens the gate which limit closed it. */
export async function noteShortage(
  tx: Transaction,
  sessionId: string,
  gate: string,
  shortage: Shortage | null,
): Promise<void> {
  await tx.query(
    `update sessions set shortages = shortages || jsonb_build_object($2::text, $3::jsonb)
     where id = $1`,
    [sessionId, gate, JSON.stringify(shortage)],
  );
}

/** Lets calls of a session take more of the wallet than its share: a person has agreed. */
export async function approveSpending(tx: Transaction, sessionId: string) {
  await tx.query(
    `update sessions set spending_approved = true where id = $1
       and 'approval' = any (gates)`,
    [sessionId],
  );
}
