import type { Plan } from './plan.ts';
import type { Printer } from './print-value.ts';
import { EPSILON, formatNumber, type Problem, quote } from './problem.ts';
import { sumCosts } from './sum-costs.ts';
import type { Price } from './types.ts';
import type { NamedValue } from './values.ts';

const WEEKS_OF_A_MONTH = 52 / 12;
const MONTHS = { once: 1, month: 1, year: 12 } as const;

/** A price that is below, or no more than, what one more costs. */
export function checkPrices({ input: { prices = [] } }: Plan): Problem[] {
  return prices.flatMap(({ item, price, unitCost, currency }): Problem[] => {
    if (price === null || price === 0 || unitCost === null || price > unitCost + EPSILON) return [];
    const amounts = `${formatNumber(price)} ${currency} and costs ${formatNumber(unitCost)} ${currency}`;
    const result = price < unitCost ? 'loses money' : 'leaves nothing';
    return [
      {
        code: 'price_below_cost',
        subject: item,
        message: `${quote(item, 60)} sells for ${amounts}: each one that is sold ${result}. Raise the price, or find a cheaper way.`,
        details: { price, unitCost, currency },
      },
    ];
  });
}

/** Price, cost and margin of one, and how many a month pay the running costs and the people. */
export function computeEconomics(plan: Plan, print: Printer): NamedValue[] {
  const { prices = [] } = plan.input;
  return prices.flatMap((price, at) => nameOne(plan, price, at === 0 ? '' : `.${at + 1}`, print));
}

function nameOne(plan: Plan, sold: Price, suffix: string, print: Printer): NamedValue[] {
  const { price, unitCost, currency, period } = sold;
  const item = quote(sold.item, 40);
  if (price === null) return [];
  const sums = sumCosts(plan);
  const money = (name: string, value: number, what: string): NamedValue => ({
    name: `${name}${suffix}`,
    kind: 'money',
    low: value,
    high: value,
    text: print.money(value, currency || (sums?.currency ?? '')),
    what,
  });
  const number = (name: string, value: number, what: string): NamedValue => ({
    name: `${name}${suffix}`,
    kind: 'count',
    low: value,
    high: value,
    text: print.count(value),
    what,
  });
  const priced = [money('price', price, `${item}: the price`)];
  if (unitCost === null) return priced;
  const margin = price - unitCost;
  const unit = [
    ...priced,
    money('unit.cost', unitCost, `${item}: what one more costs`),
    money('unit.margin', margin, `${item}: what one leaves`),
  ];
  const isSameMoney = sums !== null && (currency === '' || currency === sums.currency);
  if (!isSameMoney || margin <= EPSILON) return unit;
  const monthly = margin / MONTHS[period];
  const needed = (amount: number): number => Math.ceil(amount / monthly - EPSILON);
  const pay = monthlyPay(plan);
  return [
    ...unit,
    number('customers.cover', needed(sums.month), `${item}: how many pay the running costs`),
    ...(pay === 0
      ? []
      : [
          number(
            'customers.pay',
            needed(sums.month + pay),
            `${item}: how many pay the people, too`,
          ),
        ]),
  ];
}

/** What the people are paid in a month, of those whose pay the plan names. */
const monthlyPay = ({ input: { people } }: Plan): number =>
  people.reduce(
    (sum, { pay = null, hoursPerWeek }) =>
      sum + (pay ?? 0) * (hoursPerWeek ?? 0) * WEEKS_OF_A_MONTH,
    0,
  );
