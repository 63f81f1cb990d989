import { gatherPlan } from '../../src/checks/gather-plan.ts';
import type { CheckInput } from '../../src/checks/types.ts';
import { type ContractNode, RECORD_KINDS, type RecordKind } from '../../src/recipe/types.ts';

/** Records of each kind as models write them. */
export type RawPlan = Record<RecordKind, Record<string, unknown>[]> & {
  /** Figures and text of a second document. */
  second: { figures: Record<string, unknown>[]; text: string };
};

/** A sound plan for examples/bakery.md: two bakers, one developer, 15,000 euros, ten weeks. */
export function bakeryPlan(): RawPlan {
  return {
    demands: [
      { id: 'D1', kind: 'demand', text: 'Reserve until 6 pm, without an account' },
      { id: 'D2', kind: 'demand', text: 'Change or cancel until 6 pm; reminder at 7 am' },
      { id: 'D3', kind: 'demand', text: 'One printed page at 6:05 pm, internet or not' },
      { id: 'D4', kind: 'demand', text: 'Fewer loaves thrown away after no-shows' },
      limit('D5', 'money', { amount: 15_000, unit: 'EUR', per: 'year' }),
      limit('D6', 'place', { text: 'Personal data stays in the European Union' }),
      limit('D7', 'effort', { amount: 1, unit: 'hours', per: 'week', who: 'The bakers' }),
      limit('D8', 'date', { amount: 10, unit: 'weeks', quote: 'in ten weeks' }),
      limit('D9', 'time', { amount: 30, unit: 'days', text: 'deleted after 30 days' }),
    ],
    people: [
      { name: 'bakers', hours_per_week: 1 },
      { name: 'Developer', hours_per_week: '20 h' },
    ],
    work_items: [
      work('W1', 'Ask twenty regulars', 'Both bakers', [0.5, 1], 1, 0, '', 'D4'),
      work('W2', 'Draw the order page', 'developer', ['8 h', '12 h'], 1, 960, 'none', ['D1']),
      work('W3', 'Decide the assortment', 'the bakers', '30-60 min', 'week 2', 0, 'W2', 'D1, D2'),
      work('W4', 'Build the order page', 'Developer', [24, 36], 2, '€2,880', ['W2', 'W3'], 'D1-D2'),
      work('W5', 'Set up the printer', 'developer', [6, 10], 4, 800, 'W4', ['D3', 'D6']),
      work('W6', 'Delete after 30 days', 'developer', [2, 4], 5, 320, ['W4'], ['D9', 'D6']),
      work('W7', 'Try it with ten customers', 'bakers', [0.5, 1], 5, 0, ['W5', 'W6'], ['D4', 'D8']),
      work('W8', 'Mend what the trial shows', 'developer', [8, 16], 6, 1_280, 'W7', 'D1'),
      work('W9', 'Open to everybody', 'bakers, developer', [1, 2], 7, 160, 'W8', 'D8'),
    ].map((item) => (item['id'] === 'W7' ? { ...item, findings: 'F1' } : item)),
    costs: [
      { item: 'Development (80 hours)', amount: '€6,400', currency: 'EUR', period: 'once' },
      { item: 'Printer (W5)', amount: 800, currency: 'EUR', period: 'once' },
      { item: 'Hosting in Frankfurt', amount: '20', currency: 'EUR', period: 'month', months: 12 },
    ],
    findings: [
      { id: 'F1', weight: 'heavy', claim: 'Nobody has asked a customer', option: 'A' },
      { id: 'F2', weight: 'heavy', claim: 'The alarm hangs on the same server', option: 'B' },
      { id: 'F3', weight: 'light', claim: 'Two names for one thing', option: 'A' },
    ],
    decisions: [
      { finding: 'F2', decision: 'taken_up', where: 'W5 prints from the shop', why: 'One failure' },
    ],
    figures: [
      { name: 'Budget for the first year', value: 15_000, unit: 'EUR' },
      { name: 'Reservations on a weekday', value: 40, unit: '' },
      { name: 'Time for a reservation', value: '1 minute', unit: '' },
    ],
    calendar: [],
    milestones: [],
    gates: [],
    prices: [],
    second: {
      figures: [
        { name: 'first-year budget', value: '€15,000', unit: '' },
        { name: 'Reservations on a weekday', value: '40', unit: 'orders' },
        { name: 'time for a reservation', value: 1, unit: 'min' },
      ],
      text: 'The server stands in Frankfurt (D6).',
    },
  };
}

function limit(
  id: string,
  measure: string,
  rest: Record<string, unknown>,
): Record<string, unknown> {
  return { id, kind: 'limit', text: '', measure, ...rest };
}

function work(
  id: string,
  title: string,
  owner: string,
  effort: readonly unknown[] | string,
  earliest_week: unknown,
  cost: unknown,
  needs: unknown,
  demands: unknown,
): Record<string, unknown> {
  const efforts =
    typeof effort === 'string'
      ? { effort_low: effort }
      : { effort_low: effort[0], effort_high: effort[1] };
  return { id, title, owner, ...efforts, earliest_week, cost, needs, demands };
}

const contract: ContractNode = {
  type: 'object',
  properties: Object.fromEntries(
    RECORD_KINDS.map((kind) => [
      kind,
      { type: 'array', 'x-records': kind, items: { type: 'object', properties: {} } },
    ]),
  ),
};

/** The plan as the checks get it: found by annotation and read. */
export function readPlan({ second, ...first }: RawPlan): CheckInput {
  return gatherPlan([
    { title: 'Plan', contract, content: first },
    { title: 'Requirements', contract, content: { figures: second.figures }, text: second.text },
  ]);
}
