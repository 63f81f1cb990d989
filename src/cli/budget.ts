import type { Command } from 'commander';
import type { RunBudget } from '../wallet/session-budgets.ts';

export type BudgetOptions = { budget?: string; budgetTokens?: string };

/** The options that cap what a run may spend. */
export const addBudgetOptions = (command: Command): Command =>
  command
    .option('--budget <dollars>', 'spend no more than this on the run; it pauses before it would')
    .option('--budget-tokens <n>', 'use no more than this many tokens');

/** The caps that the options name. */
export const budgetOf = ({ budget, budgetTokens }: BudgetOptions): RunBudget => ({
  ...(budget !== undefined && { usd: budget }),
  ...(budgetTokens !== undefined && { tokens: budgetTokens }),
});
