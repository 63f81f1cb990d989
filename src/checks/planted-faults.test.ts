import { describe, expect, test } from 'vitest';
import {
  bakersPlan,
  clinicPlan,
  hiringPlan,
  readSound,
  SOUND_PLANS,
  type SoundPlan,
} from '../../test/checks/sound-plans.ts';
import { checkPlan } from './check-plan.ts';

const find = (plan: SoundPlan) => checkPlan(readSound(plan)).problems;

test.each(Object.entries(SOUND_PLANS))('nothing is found on the sound plan %s', (_name, make) => {
  expect(find(make()).map(({ message }) => message)).toEqual([]);
});

/** A fault of figures or dates, planted in a sound plan. */
type Fault = {
  readonly name: string;
  readonly code: string;
  readonly make: () => SoundPlan;
  readonly plant: (plan: SoundPlan) => void;
  readonly says: readonly string[];
};

const FAULTS: readonly Fault[] = [
  {
    name: 'a range that excludes its sum',
    code: 'range_excludes_sum',
    make: hiringPlan,
    plant: (plan) => {
      plan.work_plan.answer += ' The estimates run from 580 to 778 hours.';
    },
    says: ['Work plan says', '580 to 778 hours', '269 to 372 hours'],
  },
  {
    name: 'a total of another version',
    code: 'total_changed',
    make: hiringPlan,
    plant: (plan) => {
      plan.requirements.answer += ' Until then it costs $3,400 in all.';
    },
    says: ['Requirements says', '$3,400', '2,860 USD'],
  },
  {
    name: 'a gate on a public holiday',
    code: 'day_not_working',
    make: hiringPlan,
    plant: ({ plan }) => {
      plan.gates[1]!['when'] = '2027-02-15';
      plan.gates[1]!['evidence'] = [];
    },
    says: ['Monday, 15 February 2027', "Washington's Birthday"],
  },
  {
    name: 'an opening on a Friday',
    code: 'opening_before_break',
    make: hiringPlan,
    plant: ({ plan }) => {
      plan.calendar['opening'] = '2027-03-12';
    },
    says: ['Friday, 12 March 2027'],
  },
  {
    name: 'a gate before its evidence',
    code: 'gate_before_evidence',
    make: hiringPlan,
    plant: ({ plan }) => {
      plan.gates[1]!['when'] = '2027-02-08';
    },
    says: ['Monday, 8 February 2027, in week 11', 'W7 ends in week 12'],
  },
  {
    name: 'capacity above hours',
    code: 'too_little_free',
    make: hiringPlan,
    plant: ({ work_plan }) => {
      const [six, eight] = [work_plan.work_items[5]!, work_plan.work_items[7]!];
      Object.assign(six, { effort_low: 44, effort_high: 60, earliest_week: 6 });
      Object.assign(eight, { effort_low: 10, effort_high: 20 });
    },
    says: ['Chris in weeks 4 to 10 (First version): 72 hours', '60 asked for', 'at most 54'],
  },
  {
    name: 'a price below its cost',
    code: 'price_below_cost',
    make: hiringPlan,
    plant: ({ plan }) => {
      plan.prices[0]!['unit_cost'] = 52;
    },
    says: ['sells for 49 USD and costs 52 USD'],
  },
  {
    name: 'weeks that do not fit the dates',
    code: 'date_mismatch',
    make: bakersPlan,
    plant: ({ work_plan }) => {
      work_plan.drills.push({
        do: 'Stecker ziehen',
        expect: 'Es geht weiter',
        week: 'Woche 9 (22. Februar 2027)',
      });
    },
    says: ['week 9 begins on Monday, 1 March 2027', 'in week 8'],
  },
  {
    name: 'a share above 100 %',
    code: 'share_over_whole',
    make: clinicPlan,
    plant: ({ architecture }) => {
      architecture.operation.push(
        'In the first week 120 % of the patients call, 110 % of all users.',
      );
    },
    says: ['no more than the whole'],
  },
  {
    name: 'a promised end without a spare week',
    code: 'no_spare_week',
    make: hiringPlan,
    plant: ({ plan }) => {
      plan.calendar['promised'] = '2027-03-19';
    },
    says: ['It opens in week 16', 'Friday, 19 March 2027', 'no week is left'],
  },
  {
    name: "people's hours of another document",
    code: 'person_hours_changed',
    make: hiringPlan,
    plant: ({ architecture }) => {
      architecture.operation.push('Chris has 20 hours a week and watches the alarms.');
    },
    says: ['Architecture and technology says', 'Chris for 15 hours a week'],
  },
  {
    name: 'an unknown named value',
    code: 'value_unknown',
    make: clinicPlan,
    plant: ({ plan }) => {
      plan.answer += ' It takes [[hours.total]].';
    },
    says: ['Plan names [[hours.total]]', 'hours.planned'],
  },
];

describe('a planted fault is found by name, and nothing else', () => {
  test('twelve of them', () => {
    expect(new Set(FAULTS.map(({ code }) => code)).size).toBe(12);
  });

  test.each(FAULTS)('$name', ({ make, plant, code, says }) => {
    const plan = make();
    plant(plan);
    const problems = find(plan);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    for (const words of says) expect(problems[0]!.message).toContain(words);
  });
});
