import { idKey } from './ids.ts';
import type { Plan, PlanItem } from './plan.ts';
import { EPSILON, formatNumber, type Problem } from './problem.ts';
import type { Cost, Demand } from './types.ts';

/** Money against one limit of the brief. */
export type CostTotal = {
  readonly demand: string;
  readonly limit: number;
  readonly amount: number;
  readonly currency: string;
};

type CostCheck = { readonly problems: Problem[]; readonly totals: readonly CostTotal[] };

type Part = { readonly name: string; readonly amount: number };

/** A demand or a cost that says how much. */
type Counted<T> = T & { readonly amount: number };

export const isCounted = <T extends { readonly amount: number | null }>(
  one: T,
): one is Counted<T> => one.amount !== null;

const MONTHS_OF_A_YEAR = 12;

/**
 * The limits of money that the whole plan is measured by: the greatest of each period. A smaller
 * one beside it concerns a part of the plan ("cakes from 50 EUR on") that code does not know.
 */
export function findBudgets(demands: readonly Demand[]): Counted<Demand>[] {
  const budgets = new Map<string, Counted<Demand>>();
  for (const demand of demands.filter(isCounted)) {
    const { kind, measure, amount, per } = demand;
    if (kind !== 'limit' || measure !== 'money' || per === 'week') continue;
    const period = per === '' ? 'once' : per;
    if (amount > (budgets.get(period)?.amount ?? -1)) budgets.set(period, demand);
  }
  return [...budgets.values()];
}

/** Sums the costs within the period of each budget. */
export function checkCost(plan: Plan): CostCheck {
  const budgets = findBudgets(plan.input.demands);
  const hasWhole = budgets.some(({ per }) => per === 'once' || per === '');
  const problems: Problem[] = [];
  const totals = budgets.map((budget) => {
    const currency = budget.unit || 'EUR';
    const parts = listParts(plan, budget, currency, hasWhole);
    const amount = parts.reduce((sum, part) => sum + part.amount, 0);
    const total = { demand: budget.id, limit: budget.amount, amount, currency };
    if (amount > total.limit + EPSILON) problems.push(toProblem(total, parts));
    return total;
  });
  return { problems, totals };
}

/**
 * What falls due within the budget's period. A limit by the month, or one by the year beside one
 * for the whole, measures recurring costs alone. Else one-off costs count too, and work items by
 * this rule: a row that names an item's id or title holds its cost; what the other items cost is
 * taken to be part of the other rows, recurring ones included, and only what exceeds those is added.
 */
function listParts(plan: Plan, budget: Demand, currency: string, hasWhole: boolean): Part[] {
  const rows = plan.input.costs
    .filter(isCounted)
    .filter((cost) => cost.currency === '' || cost.currency === currency);
  const recurring = rows
    .filter(({ period }) => period !== 'once')
    .map((cost) => ({ name: cost.item, amount: withinPeriod(cost, budget) }));
  if (budget.per === 'month' || (budget.per === 'year' && hasWhole)) return recurring;
  const single = rows.filter(({ period }) => period === 'once');
  const named = findNamed(plan.items, single);
  const loose = plan.items.filter(({ key, cost }) => (cost ?? 0) > 0 && !named.items.has(key));
  const general = single.filter((row) => !named.rows.has(row));
  const tabled = [...general, ...recurring].map(({ amount }) => amount);
  const excess = sum(loose.map(({ cost }) => cost)) - sum(tabled);
  const name = `work items beyond the table (${loose.map(({ id }) => id).join(', ')})`;
  return [
    ...recurring,
    ...single.map(({ item, amount }) => ({ name: item, amount })),
    ...(excess > EPSILON ? [{ name, amount: excess }] : []),
  ];
}

const sum = (amounts: readonly (number | null)[]): number =>
  amounts.reduce<number>((all, amount) => all + (amount ?? 0), 0);

/** A shorter title may stand in a row by chance. */
const TELLING_TITLE = 10;

/** The items that rows name by id or title, and those rows. */
function findNamed(
  items: readonly PlanItem[],
  costs: readonly Cost[],
): { readonly items: ReadonlySet<string>; readonly rows: ReadonlySet<Cost> } {
  const named = { items: new Set<string>(), rows: new Set<Cost>() };
  const byId = Map.groupBy(items, ({ id }) => idKey(id));
  const titled = items.filter(({ title }) => title.length >= TELLING_TITLE);
  for (const cost of costs) {
    const text = cost.item.toLowerCase();
    const words = text.split(/[^\p{L}\p{N}._-]+/u).map(idKey);
    const found = [
      ...words.flatMap((word) => byId.get(word) ?? []),
      ...titled.filter(({ title }) => text.includes(title.toLowerCase())),
    ];
    for (const { key } of found) named.items.add(key);
    if (found.length > 0) named.rows.add(cost);
  }
  return named;
}

/** A cost that recurs, over the period of the budget; a year where nothing else is said. */
export function withinPeriod(cost: Counted<Cost>, budget: Pick<Demand, 'per'>): number {
  if (budget.per === 'month') {
    return cost.period === 'year' ? cost.amount / MONTHS_OF_A_YEAR : cost.amount;
  }
  const stated = cost.months ?? MONTHS_OF_A_YEAR;
  const months = budget.per === 'year' ? Math.min(stated, MONTHS_OF_A_YEAR) : stated;
  if (cost.period === 'month') return cost.amount * months;
  return cost.amount * Math.max(1, Math.ceil(months / MONTHS_OF_A_YEAR));
}

function toProblem(total: CostTotal, parts: readonly Part[]): Problem {
  const { demand, limit, amount, currency } = total;
  const greatest = parts
    .toSorted((a, b) => b.amount - a.amount || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map((part) => `${part.name} ${formatNumber(part.amount)}`);
  const sums = `The costs come to ${formatNumber(amount)} ${currency}; ${demand} allows ${formatNumber(limit)} ${currency}`;
  const excess = `${formatNumber(amount - limit)} ${currency} too much`;
  return {
    code: 'cost_over_budget',
    subject: demand,
    message: `${sums}: ${excess}. The greatest: ${greatest.join(', ')}. Leave out or find cheaper.`,
    details: { ...total, parts },
  };
}
