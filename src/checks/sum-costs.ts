import { checkCost, findBudgets, isCounted, withinPeriod } from './check-cost.ts';
import type { Plan } from './plan.ts';

/** Money in one currency. */
export type CostSums = {
  readonly currency: string;
  readonly once: number;
  /** What recurs, a month. */
  readonly month: number;
  /** Within the period of the limit; of a year where there is none. */
  readonly total: number;
  readonly limit: number | null;
};

const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0);

/** What the rows of the cost table come to; null without any, or in several currencies. */
export function sumCosts(plan: Plan): CostSums | null {
  const rows = plan.input.costs.filter(isCounted);
  const budgets = findBudgets(plan.input.demands);
  const whole = budgets.find(({ per }) => per === 'once' || per === '') ?? budgets[0];
  const named = new Set(rows.map((row) => row.currency).filter((one) => one !== ''));
  if (rows.length === 0 || named.size > 1) return null;
  const currency = [...named][0] ?? whole?.unit ?? '';
  if (whole && whole.unit !== '' && currency !== '' && whole.unit !== currency) return null;
  const recurring = rows.filter(({ period }) => period !== 'once');
  const once = sum(rows.filter(({ period }) => period === 'once').map(({ amount }) => amount));
  const year = { per: 'once' as const };
  const total = once + sum(recurring.map((row) => withinPeriod(row, year)));
  const measured = checkCost(plan).totals.find(({ demand }) => demand === whole?.id);
  const isWhole = whole !== undefined && whole.per !== 'month';
  return {
    currency: currency || (whole?.unit ?? ''),
    once,
    month: sum(recurring.map(({ amount, period }) => (period === 'year' ? amount / 12 : amount))),
    total: isWhole && measured ? measured.amount : total,
    limit: isWhole ? whole.amount : null,
  };
}
