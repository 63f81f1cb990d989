import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { formatAmount, parseAmount } from './amounts.ts';
import { readBudgets } from './balances.ts';
import { type Currency, setBudget } from './ledger.ts';

/** What a run may spend in all; a decimal text such as `2.50` is exact. */
export type RunBudget = {
  readonly usd?: number | string;
  readonly tokens?: number | string;
};

type SessionBudget = { readonly currency: Currency; readonly amount: number };

/** Reads the caps of a run; a dollar budget is refused where the price of a model is unknown. */
export async function readRunBudget(
  { usd, tokens }: RunBudget,
  models: readonly string[],
  config: ModelsConfig,
): Promise<SessionBudget[]> {
  const budgets: SessionBudget[] = [];
  if (usd !== undefined) {
    for (const model of models) {
      if ((await findPrice(model, config)) !== null) continue;
      throw new DialecticError('price_unknown', `The price of ${model} is unknown.`, {
        details: { model },
      });
    }
    budgets.push({ currency: 'USD', amount: parseAmount(String(usd), 'USD') });
  }
  if (tokens !== undefined) {
    budgets.push({ currency: 'token', amount: parseAmount(String(tokens), 'token') });
  }
  return budgets;
}

/** Sets the caps of a session; what it has spent before counts, and no cap can lie below it. */
export async function setSessionBudgets(
  tx: Transaction,
  sessionId: string,
  budgets: readonly SessionBudget[],
): Promise<void> {
  for (const budget of budgets) {
    await setBudget(tx, { scope: 'session', ownerId: sessionId, ...budget });
    await requireUnspent(tx, sessionId, budget);
  }
}

/** Under the locks that the new cap took, so that nothing is spent meanwhile: throwing rolls it back. */
async function requireUnspent(
  tx: Transaction,
  sessionId: string,
  { currency, amount }: SessionBudget,
): Promise<void> {
  const own = (await readBudgets(tx)).find(
    (one) => one.ownerId === sessionId && one.currency === currency,
  );
  if (!own || own.spent <= amount) return;
  const [spent, cap] = [own.spent, amount].map((one) => formatAmount(one, currency));
  throw new DialecticError(
    'budget_too_small',
    `The run has spent ${spent} already, which is more than a budget of ${cap}.`,
    { details: { session: sessionId, currency, spent: own.spent, amount } },
  );
}
