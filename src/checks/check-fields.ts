import { findBudgets } from './check-cost.ts';
import { findBareDecisions } from './check-findings.ts';
import type { Plan, PlanItem } from './plan.ts';
import { count, type Problem, quote } from './problem.ts';

/** The fields of a work item without which code cannot check it. */
const FIELDS: readonly {
  readonly name: string;
  readonly noun: string;
  readonly isMissing: (item: PlanItem) => boolean;
}[] = [
  { name: 'owner', noun: 'owner', isMissing: ({ owners }) => owners.length === 0 },
  {
    name: 'effort',
    noun: 'effort in hours (effort_low, effort_high)',
    isMissing: ({ effort }) => effort === null,
  },
  {
    name: 'earliest_week',
    noun: 'earliest week',
    isMissing: ({ earliestWeek }) => earliestWeek === null,
  },
  { name: 'cost', noun: 'cost (0 for none)', isMissing: ({ cost }) => cost === null },
  {
    name: 'demands',
    noun: 'demands that they serve',
    isMissing: (item) => item.demands.length === 0,
  },
];

/** One problem for each field, with all the records that leave it out or write it unreadably. */
export function checkFields(plan: Plan): Problem[] {
  return [
    ...checkWorkItems(plan),
    ...checkLimits(plan),
    ...checkCosts(plan),
    ...checkDecisions(plan),
  ];
}

function checkWorkItems(plan: Plan): Problem[] {
  if (plan.items.length === 0) {
    if (plan.input.demands.length === 0) return [];
    return [missing('work_items', 'The plan lists no work items.', [])];
  }
  const nameless = plan.input.workItems.filter(({ id }) => id === '').map(({ title }) => title);
  return [
    ...FIELDS.flatMap(({ name, noun, isMissing }) => {
      // Without a list of demands an item cannot name one.
      if (name === 'demands' && plan.input.demands.length === 0) return [];
      const items = plan.items.filter(isMissing);
      const told = items.map(({ id, unread }) =>
        unread[name] === undefined ? id : `${id} (says ${quote(unread[name], 40)})`,
      );
      const message = `${giveNo(items.length, 'work item', noun)}: ${told.join(', ')}.`;
      return items.length === 0
        ? []
        : [
            missing(
              name,
              message,
              items.map(({ id }) => id),
            ),
          ];
    }),
    ...(nameless.length === 0
      ? []
      : [missing('id', `${giveNo(nameless.length, 'work item', 'id')}.`, nameless.toSorted())]),
  ];
}

/** Limits of money, effort and date that give nothing to compute with. */
function checkLimits(plan: Plan): Problem[] {
  const limits = plan.input.demands.filter(({ kind }) => kind === 'limit');
  const bare = limits.filter(
    ({ measure, amount, day }) =>
      ['money', 'effort', 'date'].includes(measure) && amount === null && day === null,
  );
  const whose = limits.filter(({ measure, who }) => measure === 'effort' && who === '');
  const tell = (field: string, noun: string, found: typeof limits): Problem[] => {
    const ids = found.map(({ id }) => id).toSorted();
    const message = `${giveNo(ids.length, 'limit', noun)}: ${ids.join(', ')}.`;
    return ids.length === 0 ? [] : [missing(field, message, ids)];
  };
  return [
    ...tell('demands.amount', 'amount and unit that code can compare', bare),
    ...tell('demands.who', 'person whose effort it limits (who)', whose),
  ];
}

/** Rows of the cost table that no sum can take in. */
function checkCosts(plan: Plan): Problem[] {
  const { costs, demands } = plan.input;
  const names = (some: typeof costs): string[] => some.map(({ item }) => item).toSorted();
  const bare = names(costs.filter(({ amount }) => amount === null));
  const budgets = findBudgets(demands);
  const currencies = new Set(budgets.map(({ unit }) => unit || 'EUR'));
  const foreign = names(
    budgets.length === 0
      ? []
      : costs.filter(({ currency }) => currency !== '' && !currencies.has(currency)),
  );
  const other = `${count(foreign.length, 'cost')} in another currency than the limit's (${[...currencies].join(', ')}) could not be added: ${foreign.join(', ')}.`;
  return [
    ...(bare.length === 0
      ? []
      : [
          missing(
            'costs.amount',
            `${giveNo(bare.length, 'cost', 'amount')}: ${bare.join(', ')}.`,
            bare,
          ),
        ]),
    ...(foreign.length === 0 ? [] : [missing('costs.currency', other, foreign)]),
  ];
}

function checkDecisions(plan: Plan): Problem[] {
  return [...findBareDecisions(plan.input.decisions)].map(([field, found]) => {
    const ids = [...new Set(found)].toSorted();
    const noun = { where: 'place where it is taken up', why: 'reason', owner: 'owner' }[field];
    const message = `${giveNo(ids.length, 'decision', `${noun} (${field})`)}: ${ids.join(', ')}.`;
    return missing(`decisions.${field}`, message, ids);
  });
}

const giveNo = (number: number, subject: string, noun: string): string =>
  `${count(number, subject)} ${number === 1 ? 'gives' : 'give'} no ${noun}`;

const missing = (field: string, message: string, ids: readonly string[]): Problem => ({
  code: 'field_missing',
  subject: field,
  message,
  details: { field, ids },
});
