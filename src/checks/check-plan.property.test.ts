import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tabulateEffort } from '../../test/checks/tabulate-effort.ts';
import { weeklyRate } from './capacity.ts';
import { checkPlan } from './check-plan.ts';
import { ownerKey } from './owners.ts';
import { preparePlan } from './plan.ts';
import { EPSILON } from './problem.ts';
import { RECORD_READERS } from './read-records.ts';
import { scheduleItems } from './schedule.ts';
import type { CheckInput, Demand, WorkItem } from './types.ts';

const NAMES = ['Ana', 'Ben', 'the developers'];
const limit = (fields: Partial<Demand>): Demand => ({
  ...RECORD_READERS.demands({ kind: 'limit' }),
  ...fields,
});

/** Plans whose needs point anywhere (`tangled`), or only to items before them. */
const plans = (tangled: boolean): fc.Arbitrary<CheckInput> =>
  fc
    .record({
      items: fc.array(
        fc.record({
          owners: fc.subarray(NAMES),
          low: fc.integer({ min: 0, max: 20 }),
          more: fc.integer({ min: 0, max: 20 }),
          week: fc.option(fc.integer({ min: 1, max: 12 })),
          cost: fc.option(fc.integer({ min: 0, max: 900 })),
          needs: fc.array(fc.nat({ max: 14 }), { maxLength: 3 }),
          demands: fc.subarray(['D1', 'D2', 'D9']),
        }),
        { maxLength: 12 },
      ),
      hours: fc.integer({ min: 1, max: 10 }),
      other: fc.option(fc.integer({ min: 1, max: 30 })),
      weeks: fc.integer({ min: 1, max: 20 }),
      budget: fc.integer({ min: 0, max: 4_000 }),
      rows: fc.array(fc.record({ at: fc.nat({ max: 12 }), amount: fc.nat({ max: 2_000 }) })),
    })
    .map(({ items, hours, other, weeks, budget, rows }) => ({
      demands: [
        limit({ id: 'D1', kind: 'demand', text: 'one' }),
        limit({ id: 'D2', measure: 'effort', amount: hours, per: 'week', who: 'Ana' }),
        limit({ id: 'D3', measure: 'date', amount: weeks, unit: 'weeks' }),
        limit({ id: 'D4', measure: 'money', amount: budget, unit: 'EUR' }),
      ],
      people: [{ name: 'Developers', hoursPerWeek: other, fromWeek: null, toWeek: null }],
      workItems: items.map(
        (item, at): WorkItem => ({
          id: `W${at + 1}`,
          title: `Work ${at + 1}`,
          owners: item.owners,
          effort: { low: item.low, high: item.low + item.more },
          earliestWeek: item.week,
          cost: item.cost,
          needs: item.needs.filter((need) => tangled || need < at).map((need) => `W${need + 1}`),
          demands: item.demands,
          findings: [],
          doneWhen: '',
          unread: {},
        }),
      ),
      costs: rows.map(({ at, amount }) => ({
        item: `Row for W${at}`,
        amount,
        currency: 'EUR',
        period: at % 3 === 0 ? 'month' : 'once',
        months: null,
      })),
      findings: [],
      decisions: [],
      documents: [],
    }));

const names = (input: CheckInput): string[] =>
  checkPlan(input).problems.map(({ code, subject }) => `${code} ${subject}`);

describe('scheduling', () => {
  test('lets nothing begin before its needs end or its week has come', () => {
    fc.assert(
      fc.property(plans(true), (input) => {
        const plan = preparePlan(input);
        const placed = new Map(scheduleItems(plan, true).map((item) => [item.key, item]));
        expect(placed.size).toBe(input.workItems.length);
        for (const item of plan.items) {
          const at = placed.get(item.key)!;
          expect(at.startWeek).toBeGreaterThanOrEqual(item.earliestWeek ?? 1);
          for (const need of item.waitsFor) {
            expect(at.start).toBeGreaterThanOrEqual(placed.get(need)!.end);
          }
        }
      }),
    );
  });

  test('asks nobody for more hours in a week than they have', () => {
    fc.assert(
      fc.property(plans(true), (input) => {
        const { schedule } = checkPlan(input);
        const { capacities } = preparePlan(input);
        const { rows, weeks } = tabulateEffort(schedule, input.people);
        for (const { owner, hours } of rows) {
          expect(hours).toHaveLength(weeks.length);
          const most = weeklyRate(capacities.get(ownerKey(owner)));
          for (const asked of hours) expect(asked).toBeLessThanOrEqual(most + 0.005 + EPSILON);
        }
        const effort = (keep: (item: WorkItem) => boolean): number =>
          input.workItems.filter(keep).reduce((sum, item) => sum + item.effort!.high, 0);
        const tabled = rows.reduce((sum, { total }) => sum + total, 0);
        expect(tabled).toBeCloseTo(
          effort(({ owners }) => owners.length > 0),
          0,
        );
      }),
    );
  });
});

describe('problems', () => {
  test('are the same for any order of items, demands and costs', () => {
    fc.assert(
      fc.property(plans(true), fc.infiniteStream(fc.nat()), (input, chance) => {
        const shuffle = <T>(list: readonly T[]): T[] =>
          list
            .map((one) => ({ one, at: chance.next().value as number }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ one }) => one);
        const other = {
          ...input,
          demands: shuffle(input.demands),
          workItems: shuffle(input.workItems),
          costs: shuffle(input.costs),
        };
        expect(checkPlan(other).problems).toEqual(checkPlan(input).problems);
        expect(checkPlan(other).schedule).toEqual(checkPlan(input).schedule);
      }),
    );
  });

  test('never grow when there is more time, money or help, or less to do', () => {
    const slack = fc.record({
      weeks: fc.nat({ max: 5 }),
      money: fc.nat({ max: 900 }),
      hours: fc.nat({ max: 9 }),
      effort: fc.double({ min: 0.1, max: 1, noNaN: true }),
    });
    let eased = 0;
    fc.assert(
      fc.property(plans(false), slack, (input, { weeks, money, hours, effort }) => {
        const more: Record<string, number> = { date: weeks, money, effort: hours };
        const easier = {
          ...input,
          demands: input.demands.map((demand) => ({
            ...demand,
            amount: demand.amount === null ? null : demand.amount + (more[demand.measure] ?? 0),
          })),
          workItems: input.workItems.map((item) => ({
            ...item,
            effort: { low: item.effort!.low * effort, high: item.effort!.high * effort },
          })),
        };
        const before = names(input);
        // An impossible week hides where its hours fall, so that effort may then come to light.
        const hidden = before.some((name) => name.startsWith('week_impossible W'));
        const added = names(easier)
          .filter((name) => !before.includes(name))
          .filter((name) => !(hidden && name.startsWith('effort_over_limit')));
        expect(added).toEqual([]);
        if (names(easier).length < before.length) eased += 1;
      }),
      { numRuns: 300 },
    );
    expect(eased).toBeGreaterThan(30);
  });

  /** How often the checks look at a field of a work item, in a plan of so many. */
  function countReads(count: number): number {
    let reads = 0;
    const watch: ProxyHandler<Parameters<typeof checkPlan>[0]['workItems'][number]> = {
      get: (target, key, receiver) => {
        reads++;
        return Reflect.get(target, key, receiver);
      },
    };
    const workItems = Array.from({ length: count }, (_, at) =>
      RECORD_READERS.work_items({
        id: `W${at}`,
        title: `Work ${at}`,
        owner: NAMES[at % 3],
        effort: '1-2 h',
        earliest_week: 1 + (at >> 2),
        cost: 1,
        needs: at > 2 ? [`W${at - 3}`, `W${at >> 1}`] : [],
        demands: 'D1',
      }),
    );
    const [input] = fc.sample(plans(false), { numRuns: 1, seed: 1 });
    const costs = workItems.map(({ id }) => RECORD_READERS.costs({ item: `For ${id}`, amount: 1 }));
    const watched = workItems.map((item) => new Proxy(item, watch));
    const { schedule } = checkPlan({ ...input!, workItems: watched, costs });
    expect(schedule).toHaveLength(count);
    return reads;
  }

  test('of ten times the work items take about ten times the work', () => {
    const growth = countReads(1_000) / countReads(100);
    expect(growth).toBeGreaterThan(5);
    expect(growth).toBeLessThan(20);
  });
});
