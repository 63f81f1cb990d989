import { describe, expect, test } from 'vitest';
import { bakeryPlan, type RawPlan, readPlan } from '../../test/checks/bakery-plan.ts';
import { checkFigures } from './check-figures.ts';
import { checkPlan } from './check-plan.ts';
import { findDeadlines } from './check-weeks.ts';
import { findCycles } from './needs.ts';
import { RECORD_READERS } from './read-records.ts';
import type { CheckInput } from './types.ts';

const check = (plant: (plan: RawPlan) => void, startDate?: string): string[] => {
  const plan = bakeryPlan();
  plant(plan);
  const input: CheckInput = {
    ...readPlan(plan),
    ...(startDate === undefined ? {} : { startDate }),
  };
  return checkPlan(input).problems.map(({ code, subject }) => `${code} ${subject}`);
};

describe('figures', () => {
  const compare = (
    first: [string, unknown, string?],
    second: [string, unknown, string?],
  ): number => {
    const documents = [first, second].map(([name, value, unit], at) => ({
      title: `Document ${at}`,
      figures: [RECORD_READERS.figures({ name, value, unit })],
    }));
    return checkFigures(documents).length;
  };

  test.each([
    [
      ['Budget', 15_000, 'EUR'],
      ['budget', '€15,000'],
    ],
    [
      ['Time to reserve', '60 min'],
      ['time to reserve', 1, 'hour'],
    ],
    [
      ['Warranty', 24, 'months'],
      ['Warranty', '2 years'],
    ],
    [
      ['Orders', 40],
      ['Orders', '40', 'orders'],
    ],
    [
      ['Effort', '8-12 h'],
      ['effort', '8 to 12 hours'],
    ],
    [
      ['Place of data', 'EU (Frankfurt)'],
      ['place of data', 'EU (frankfurt)'],
    ],
    [
      ['Orders per customer', 2],
      ['Customers per order', 3],
    ],
    [
      ['Budget', 1],
      ['Budget of the second year', 2],
    ],
  ] as const)('%j and %j agree', (first, second) => {
    expect(compare([...first], [...second])).toBe(0);
  });

  test.each([
    [
      ['Budget', 15_000, 'EUR'],
      ['Budget', 15_000, 'USD'],
    ],
    [
      ['Total', 12_904],
      ['The total', '14,481 EUR'],
    ],
    [
      ['Effort', '8-12 h'],
      ['Effort', '8-14 h'],
    ],
    [
      ['Place of data', 'EU'],
      ['Place of data', 'Switzerland'],
    ],
    [
      ['Place of data', 'EU'],
      ['Place of data', '3'],
    ],
  ] as const)('%j and %j do not', (first, second) => {
    expect(compare([...first], [...second])).toBe(1);
  });
});

describe('money', () => {
  const cost = (plan: RawPlan, item: string): Record<string, unknown> =>
    plan.costs.find((row) => row['item'] === item)!;

  test('counts what work items cost beyond the rows that may hold it', () => {
    const raise = (plan: RawPlan): void => {
      plan.work_items[3]!['cost'] = 12_000;
    };
    // 960 + 12,000 + 320 + 1,280 + 160 against 6,400; with printer and hosting 15,760.
    expect(check(raise)).toEqual(['cost_over_budget D5']);
    expect(
      check((plan) => {
        raise(plan);
        cost(plan, 'Development (80 hours)')['item'] = 'Build the order page';
      }),
    ).toEqual([]);
  });

  test('a limit by the month measures what recurs', () => {
    const add = (amount: number) => (plan: RawPlan) => {
      plan.demands.push({
        id: 'D10',
        kind: 'limit',
        measure: 'money',
        amount,
        unit: 'EUR',
        per: 'month',
      });
    };
    expect(check(add(20))).toEqual([]);
    expect(check(add(19))).toEqual(['cost_over_budget D10']);
  });

  test('a smaller limit beside the budget concerns a part, and is left to readers', () => {
    const plan = bakeryPlan();
    plan.demands.push({
      id: 'D10',
      kind: 'limit',
      measure: 'money',
      amount: 50,
      unit: 'EUR',
      per: 'year',
    });
    plan.second.text += ' Cakes from 50 EUR on (D10).';
    const { problems, totals } = checkPlan(readPlan(plan));
    expect(problems).toEqual([]);
    expect(totals.unchecked).toContain('D10');
  });
});

describe('hours', () => {
  const limitBakers = (fields: Record<string, unknown>) => (plan: RawPlan) => {
    Object.assign(plan.demands[6]!, fields);
    plan.people.shift();
  };

  test.each([
    [{ amount: 60, unit: 'minutes' }, []],
    [{ amount: 30, unit: 'minutes' }, ['effort_over_limit the bakers']],
    [{ amount: 4, per: 'once' }, []],
    [{ amount: 3, per: 'once' }, ['effort_over_limit the bakers']],
    [{ amount: 2, per: 'month' }, []],
    [{ amount: 1.5, per: 'month' }, ['effort_over_limit the bakers']],
  ])('a limit of %j', (fields, found) => {
    expect(check(limitBakers(fields)).filter((name) => name.startsWith('effort'))).toEqual(found);
  });

  test('are asked only of people who are there', () => {
    const late = (plan: RawPlan): void => {
      plan.people[1]!['from_week'] = 2;
    };
    expect(check(late)).toContain('effort_over_limit Developer');
  });
});

describe('deadlines', () => {
  const { demands } = RECORD_READERS;
  const limit = { id: 'D1', kind: 'limit' };

  test.each([
    [{ measure: 'date', amount: 10, unit: 'weeks' }, 10],
    [{ measure: 'time', amount: 3, unit: 'months', text: 'Live in three months' }, 13],
    [{ measure: 'date', amount: 45, unit: 'days' }, 6],
    [{ measure: 'date', text: 'Live by 2026-12-04' }, 5],
  ])('%j is week %d', (raw, week) => {
    expect(findDeadlines([demands({ ...limit, ...raw })], '2026-11-02')).toEqual([
      { demand: 'D1', week },
    ]);
  });

  test.each([
    { measure: 'time', amount: 30, unit: 'days', text: 'deleted after 30 days' },
    { measure: 'time', amount: 4, unit: 'weeks', text: 'Backups are kept for four weeks' },
    { measure: 'time', amount: 1, unit: 'minutes' },
    { measure: 'date', text: 'before Christmas' },
  ])('%j is none', (raw) => {
    expect(findDeadlines([demands({ ...limit, ...raw })])).toEqual([]);
  });

  test('work that is planned for later on purpose may end later', () => {
    const review = (demand: string) => (plan: RawPlan) => {
      plan.work_items.push({
        ...plan.work_items[0]!,
        id: 'W10',
        earliest_week: 14,
        demands: demand,
      });
    };
    expect(check(review('D4'))).toEqual([]);
    expect(check(review('D8'))).toEqual(['week_impossible D8']);
  });
});

test('a finding that the ledger calls decided is answered, whatever later documents say', () => {
  const undecided = (plan: RawPlan): void => void plan.decisions.splice(0);
  expect(check(undecided)).toEqual(['finding_unanswered F2']);
  const decided = (plan: RawPlan): void => {
    undecided(plan);
    plan.findings[1]!['decision'] = 'taken up: the page is printed in the shop';
  };
  expect(check(decided)).toEqual([]);
});

test("a critic's own record, which has no number yet, is not asked for again", () => {
  const unnumbered = (plan: RawPlan): void => {
    plan.findings.push({ weight: 'heavy', claim: 'Nobody has asked a customer' });
  };
  expect(check(unnumbered)).toEqual([]);
});

test('cycles are named from their smallest id on, each once', () => {
  const graph = new Map([
    ['A', ['B']],
    ['B', ['C', 'A']],
    ['C', ['D']],
    ['D', ['E']],
    ['E', ['D']],
    ['F', ['F']],
  ]);
  expect(findCycles(graph)).toEqual([['A', 'B'], ['D', 'E'], ['F']]);
});
