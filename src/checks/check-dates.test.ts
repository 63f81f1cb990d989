import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bakersPlan,
  clinicPlan,
  hiringPlan,
  readSound,
  type SoundPlan,
} from '../../test/checks/sound-plans.ts';
import { addDays, weekdayOf } from '../text/day.ts';
import { endOfDay, makeCalendar, weekOf, weekStart } from './calendar.ts';
import { checkPlan } from './check-plan.ts';
import { describeChecks } from './describe-checks.ts';

const check = (make: () => SoundPlan, change: (plan: SoundPlan) => void) => {
  const plan = make();
  change(plan);
  return checkPlan(readSound(plan)).problems.map(({ code, subject }) => `${code} ${subject}`);
};

describe('a plan with a calendar', () => {
  test('begins on the Monday after the session, where it names no day, and never before it', () => {
    const plan = hiringPlan();
    plan.plan.calendar['start'] = undefined;
    expect(checkPlan(readSound(plan)).calendar?.weekOne).toBe('2026-11-23');
    expect(
      check(hiringPlan, ({ plan: { calendar } }) => (calendar['start'] = '2026-11-16')),
    ).toContain('start_in_past start');
  });

  test('opens on no day off, and not before one, unless the request names that very day', () => {
    const open = (day: string, asked = false) =>
      check(hiringPlan, ({ plan, requirements }) => {
        plan.calendar['opening'] = day;
        if (asked) requirements.demands[0]!['text'] = `Open on ${day}`;
      });
    expect(open('2027-03-13')).toEqual(['day_not_working opening']);
    expect(open('2027-03-12')).toEqual(['opening_before_break opening']);
    expect(open('2027-03-12', true)).toEqual([]);
    expect(open('2027-03-11')).toEqual([]);
    // The day before Good Friday, in a week that opens on Sunday elsewhere.
    expect(
      check(bakersPlan, ({ plan }) => {
        plan.calendar['opening'] = '2027-03-25';
        plan.calendar['promised'] = undefined;
      }),
    ).toEqual(['opening_before_break opening']);
    expect(check(clinicPlan, ({ plan }) => (plan.calendar['opening'] = '2027-04-15'))).toContain(
      'opening_before_break opening',
    );
  });

  test('has a spare week before a deadline of the request as well, but not within four weeks', () => {
    const due = (weeks: number) =>
      check(hiringPlan, ({ plan, requirements }) => {
        plan.calendar['promised'] = undefined;
        requirements.demands[2]!['amount'] = weeks;
      });
    expect(due(17)).toEqual([]);
    expect(due(16)).toEqual(['no_spare_week D3']);
    expect(due(3).filter((name) => name.startsWith('no_spare'))).toEqual([]);
  });

  test('names only work items that exist as evidence', () => {
    expect(check(hiringPlan, ({ plan }) => (plan.gates[0]!['evidence'] = ['W77']))).toEqual([
      'need_unknown gate 1',
    ]);
  });

  test('without a known country leaves no holidays out, and says so', () => {
    const plan = hiringPlan();
    plan.plan.calendar['country'] = 'Atlantis';
    const { calendar } = checkPlan(readSound(plan));
    expect(calendar?.country).toBeNull();
    expect(calendar?.isWorkingDay('2026-12-25')).toBe(true);
  });

  test('says which of its days cannot be read', () => {
    expect(
      check(hiringPlan, ({ plan }) => (plan.calendar['opening'] = 'week 16, maybe')),
    ).toContain('calendar_incomplete opening');
  });

  test('is as sound with any day that it may open on as with the next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), (count) => {
        const day = addDays('2027-03-08', count);
        const found = check(hiringPlan, ({ plan, requirements }) => {
          plan.calendar['opening'] = day;
          plan.calendar['promised'] = undefined;
          requirements.demands.pop();
          plan.milestones = [{ title: 'All', weeks: '1-70', outcome: 'Done.' }];
          for (const item of plan.gates) item['when'] = '';
        }).filter((name) => /opening/.test(name));
        const { calendar } = checkPlan(readSound(hiringPlan()));
        const isFree = (one: string): boolean => !calendar!.isWorkingDay(one);
        expect(found.length > 0).toBe(isFree(day) || isFree(addDays(day, 1)));
      }),
      { numRuns: 40 },
    );
  });
});

test('more hours or fewer days off never make an item later', () => {
  const ends = (hours: number, away: string, country: string): number[] => {
    const plan = hiringPlan();
    plan.plan.calendar['country'] = country;
    Object.assign(plan.plan.people[0]!, { hours_per_week: hours, days_off: away });
    return checkPlan(readSound(plan)).schedule.map(({ end }) => end);
  };
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 60 }),
      fc.constantFrom('US', 'DE', ''),
      (hours, more, days, country) => {
        const away = `2026-12-07 to ${addDays('2026-12-07', days)}`;
        const late = ends(hours, away, country);
        for (const [at, end] of ends(hours + more, away, country).entries()) {
          expect(end).toBeLessThanOrEqual(late[at]! + 1e-6);
        }
        for (const [at, end] of ends(hours, '', country).entries()) {
          expect(end).toBeLessThanOrEqual(late[at]! + 1e-6);
        }
      },
    ),
    { numRuns: 30 },
  );
});

test('whatever stands in the records of a plan, it is checked, in little time', () => {
  const value = fc.oneof(
    fc.constantFrom('1-999999999', 'week 88888888', '9999-12-27', '0001-01-01', '-5', '1e300'),
    fc.constantFrom(
      '2027-01-04 to 9999-12-31',
      'DE',
      '[[date.week.999]] [[x]]',
      '100 % of all users',
    ),
    fc.jsonValue({ maxDepth: 1 }),
    fc.integer(),
  );
  const fields = `country start opening promised opening_needs free_percent language weeks when
    evidence days_off hours_per_week from_week to_week effort_low effort_high earliest_week owner
    needs id price unit_cost currency period amount months pay_per_hour name item answer`;
  const raw = fc.dictionary(fc.constantFrom(...fields.split(/\s+/)), value, { maxKeys: 8 });
  const some = fc.array(raw, { maxLength: 3 });
  fc.assert(
    fc.property(
      raw,
      some,
      some,
      some,
      some,
      some,
      (calendar, people, milestones, gates, prices, work) => {
        const plan = hiringPlan();
        plan.plan.calendar = { start: '2027-01-04', ...calendar };
        plan.plan.people.push(...people);
        plan.plan.milestones.push(...milestones);
        plan.plan.gates.push(...gates);
        plan.plan.prices.push(...prices);
        plan.work_plan.work_items.push(...work);
        expect(describeChecks(checkPlan(readSound(plan)))).toBeTypeOf('object');
      },
    ),
    { numRuns: 150 },
  );
});

describe('a plan without a calendar', () => {
  const input = (today: string | null) => {
    const plan = hiringPlan();
    plan.architecture.operation.push('In all 900 hours.');
    const { calendar, ...content } = plan.plan;
    expect(calendar).toBeDefined();
    return { ...readSound({ ...plan, plan: content as SoundPlan['plan'] }), today };
  };
  const codes = (today: string | null) =>
    checkPlan(input(today))
      .problems.filter(({ code }) => code !== 'value_unknown')
      .map(({ code }) => code);

  test('is held against no date and no typed figure where its session has no date', () => {
    expect(codes(null)).toEqual([]);
  });

  test('is asked for one where its session has a date', () => {
    expect(codes('2026-11-19')).toEqual(['calendar_incomplete']);
  });
});

test('weeks and days lead to each other', () => {
  const { calendar: record } = readSound(hiringPlan());
  const calendar = makeCalendar({ ...record!, start: '2026-12-02' }, null)!;
  expect(calendar.weekOne).toBe('2026-11-30');
  expect(calendar.workingDays(1)).toEqual(['2026-12-02', '2026-12-03', '2026-12-04']);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 6 }), (week, at) => {
      const day = addDays(weekStart(calendar, week), at);
      expect(weekdayOf(weekStart(calendar, week))).toBe(1);
      expect(weekOf(calendar, day)).toBe(week);
      const end = endOfDay(calendar, day);
      expect(end).toBeGreaterThanOrEqual(week - 1);
      expect(end).toBeLessThanOrEqual(week);
      expect(endOfDay(calendar, addDays(weekStart(calendar, week), 4))).toBe(week);
    }),
  );
});
