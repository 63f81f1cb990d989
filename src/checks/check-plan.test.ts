import { describe, expect, test } from 'vitest';
import { bakeryPlan, type RawPlan, readPlan } from '../../test/checks/bakery-plan.ts';
import { CHECKS } from '../recipe/types.ts';
import { checkPlan } from './check-plan.ts';

type Raw = Record<string, unknown>;
type Fault = {
  readonly title: string;
  readonly plant: (plan: RawPlan) => void;
  /** `code subject`, in order. */
  readonly found: readonly string[];
  readonly says: readonly string[];
};

const change = (plan: RawPlan, id: string, fields: Raw): void => {
  for (const record of [...plan.work_items, ...plan.demands, ...plan.costs, ...plan.decisions]) {
    if ([record['id'], record['item'], record['finding']].includes(id))
      Object.assign(record, fields);
  }
};

const FAULTS: readonly Fault[] = [
  {
    title: 'effort over the limit of a person',
    plant: (plan) => change(plan, 'W3', { earliest_week: 1 }),
    found: ['effort_over_limit the bakers'],
    says: [
      'D7 gives the bakers 1 hour a week',
      'week 1 asks 2 hours (1 at the low estimate): W1, W3',
    ],
  },
  {
    title: 'costs over the budget',
    plant: (plan) => change(plan, 'Hosting in Frankfurt', { amount: 700 }),
    found: ['cost_over_budget D5'],
    says: ['15,600 EUR', '15,000 EUR', '600 EUR too much', 'Hosting in Frankfurt 8,400'],
  },
  {
    title: 'a week that needs make impossible',
    plant: (plan) => change(plan, 'W5', { earliest_week: 2 }),
    found: ['week_impossible W5'],
    says: ['W5 states week 2', 'W4 (ends in week 4)', 'Week 4 is the earliest'],
  },
  {
    title: 'a need that does not exist',
    plant: (plan) => change(plan, 'W5', { needs: ['W4', 'W14'] }),
    found: ['need_unknown W5'],
    says: ['W5 needs W14'],
  },
  {
    title: 'a cycle of needs',
    plant: (plan) => change(plan, 'W5', { needs: ['W4', 'W8'] }),
    found: ['need_cycle W5'],
    says: ['W5 → W8 → W7 → W5'],
  },
  {
    title: 'a figure that another document changes',
    plant: (plan) => Object.assign(plan.second.figures[0]!, { value: '€14,481' }),
    found: ['figure_changed Budget for the first year'],
    says: ['15000 EUR in Plan', '€14,481 in Requirements'],
  },
  {
    title: 'a demand without work',
    plant: (plan) => change(plan, 'W5', { demands: ['D6'] }),
    found: ['demand_without_work D3'],
    says: ['No work item serves D3', 'One printed page'],
  },
  {
    title: 'a heavy finding that nothing answers',
    plant: (plan) => plan.decisions.splice(0),
    found: ['finding_unanswered F2'],
    says: ['F2', 'The alarm hangs on the same server'],
  },
  {
    title: 'work that ends after the deadline',
    plant: (plan) => {
      change(plan, 'W8', { effort_low: 60, effort_high: 90 });
      change(plan, 'W9', { earliest_week: 10 });
    },
    found: ['week_impossible D8'],
    says: ['week 11', 'end of week 10', 'W9', 'W7 → W8 → W9'],
  },
  {
    title: 'work items without owner and without effort',
    plant: (plan) => {
      change(plan, 'W2', { owner: 'TBD' });
      change(plan, 'W5', { owner: '' });
      change(plan, 'W6', { effort_low: 'a few days', effort_high: undefined });
    },
    found: ['field_missing effort', 'field_missing owner'],
    says: [
      '2 work items give no owner: W2, W5',
      '1 work item gives no effort',
      'W6 (says “a few days”)',
    ],
  },
];

const check = (plant: (plan: RawPlan) => void): ReturnType<typeof checkPlan> => {
  const plan = bakeryPlan();
  plant(plan);
  return checkPlan(readPlan(plan));
};
const names = ({ problems }: ReturnType<typeof checkPlan>): string[] =>
  problems.map(({ code, subject }) => `${code} ${subject}`);

describe('ten planted faults', () => {
  test('there is nothing to find in the sound plan', () => {
    const { problems, totals, schedule } = check(() => undefined);
    expect(problems).toEqual([]);
    expect(schedule).toHaveLength(9);
    expect(totals).toEqual({
      effort: [
        { name: 'The bakers', low: 2, high: 4, hoursPerWeek: 1 },
        { name: 'Developer', low: 48.5, high: 79, hoursPerWeek: 20 },
      ],
      costs: [{ demand: 'D5', limit: 15_000, amount: 7_440, currency: 'EUR' }],
      endWeek: 8,
      deadlines: [{ demand: 'D8', week: 10 }],
      unchecked: ['D6', 'D9'],
    });
  });

  test.each(FAULTS)('$title', ({ plant, found, says }) => {
    const result = check(plant);
    expect(names(result)).toEqual(found);
    const messages = result.problems.map(({ message }) => message).join('\n');
    for (const words of says) expect(messages).toContain(words);
  });
});

describe('beside those', () => {
  test('a demand that is not in the list', () => {
    const result = check((plan) => change(plan, 'W2', { demands: 'D1, D77' }));
    expect(names(result)).toEqual(['demand_unknown W2']);
    expect(result.problems[0]?.details).toEqual({ demands: ['D77'] });
  });

  test('an id that two items share, though not one that two documents repeat', () => {
    const twice = check((plan) => plan.work_items.push({ ...plan.work_items[0]! }));
    expect(names(twice)).toEqual([]);
    const two = check((plan) => plan.work_items.push({ ...plan.work_items[1]!, title: 'Other' }));
    expect(names(two)).toContain('id_duplicate W2');
  });

  test('a limit that no work item names is served by a document, or else is not', () => {
    const drop = (plan: RawPlan): void => {
      change(plan, 'W5', { demands: 'D3' });
      change(plan, 'W6', { demands: 'D9' });
    };
    expect(names(check(drop))).toEqual([]);
    const silent = check((plan) => {
      drop(plan);
      plan.second.text = 'The server stands in Frankfurt (D61).';
    });
    expect(names(silent)).toEqual(['demand_without_work D6']);
  });

  test('decisions that do not say where, why or for whom', () => {
    const result = check((plan) => {
      change(plan, 'F2', { where: '' });
      plan.decisions.push({ finding: 'F3', decision: 'rejected' });
    });
    expect(names(result)).toEqual(['field_missing decisions.where', 'field_missing decisions.why']);
  });

  test('limits and costs that give nothing to compute with', () => {
    const result = check((plan) => {
      change(plan, 'D8', { amount: 'before Christmas', unit: '' });
      change(plan, 'Printer (W5)', { amount: 'to be asked' });
      change(plan, 'Hosting in Frankfurt', { currency: 'USD' });
    });
    expect(names(result)).toEqual([
      'field_missing costs.amount',
      'field_missing costs.currency',
      'field_missing demands.amount',
    ]);
  });

  test('a plan without records gets one line for each field, and an empty one none', () => {
    const bare = check((plan) => {
      plan.work_items = plan.work_items.map(({ id, title }) => ({ id, title }));
    });
    const fields = ['cost', 'demands', 'earliest_week', 'effort', 'owner'];
    expect(names(bare).filter((name) => !name.includes('F1'))).toEqual(
      fields.map((field) => `field_missing ${field}`),
    );
    const nothing = { demands: [], people: [], workItems: [], costs: [], findings: [] };
    expect(checkPlan({ ...nothing, decisions: [], documents: [] }).problems).toEqual([]);
    expect(names(check((plan) => plan.work_items.splice(0)))).toContain('field_missing work_items');
  });

  test('every code is tried here', () => {
    const tried = FAULTS.flatMap(({ found }) => found.map((name) => name.split(' ')[0]!));
    const elsewhere = ['demand_unknown', 'id_duplicate', 'too_long', 'too_many_codes'];
    const byDate = CHECKS.slice(
      CHECKS.indexOf('no_spare_week'),
      CHECKS.indexOf('value_unknown') + 1,
    );
    // Those against dates and typed figures: planted-faults.test.ts and check-dates.test.ts.
    expect(new Set([...tried, ...elsewhere, ...byDate])).toEqual(new Set(CHECKS));
  });
});
