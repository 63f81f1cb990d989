import type { Command } from 'commander';
import type { Transaction } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { parseAmount } from '../wallet/amounts.ts';
import { type Currency, setBudget } from '../wallet/ledger.ts';

export type BudgetOptions = { budget?: string; budgetTokens?: string };

type SessionBudget = { readonly currency: Currency; readonly amount: number };

/** The options that cap what a run may spend. */
export const addBudgetOptions = (command: Command): Command =>
  command
    .option('--budget <dollars>', 'spend no more than this on the run; it pauses before it would')
    .option('--budget-tokens <n>', 'use no more than this many tokens');

/** Reads the caps; a dollar budget is refused where nobody knows what a model costs. */
export async function readBudgetOptions(
  { budget, budgetTokens }: BudgetOptions,
  models: readonly string[],
  config: ModelsConfig,
): Promise<SessionBudget[]> {
  const budgets: SessionBudget[] = [];
  if (budget !== undefined) {
    for (const model of models) {
      if ((await findPrice(model, config)) !== null) continue;
      throw new DialecticError('price_unknown', `The price of ${model} is unknown.`, {
        details: { model },
      });
    }
    budgets.push({ currency: 'USD', amount: parseAmount(budget, 'USD') });
  }
  if (budgetTokens !== undefined) {
    budgets.push({ currency: 'token', amount: parseAmount(budgetTokens, 'token') });
  }
  return budgets;
}

/** Sets the caps of a session; what it has spent before counts. */
export async function setSessionBudgets(
  tx: Transaction,
  tenantId: string,
  sessionId: string,
  budgets: readonly SessionBudget[],
): Promise<void> {
  for (const budget of budgets) {
    await setBudget(tx, { tenantId, scope: 'session', ownerId: sessionId, ...budget });
  }
}
