import { describe, expect, test } from 'vitest';
import {
  bakersPlan,
  clinicPlan,
  contractOf,
  hiringPlan,
  readSound,
  SOUND_PLANS,
  type SoundPlan,
} from '../../test/checks/sound-plans.ts';
import { checkPlan } from './check-plan.ts';
import { printDocument } from './print-document.ts';

const print = (plan: SoundPlan): SoundPlan['plan'] =>
  printDocument(contractOf('plan'), plan.plan, readSound(plan)) as SoundPlan['plan'];

describe('a plan that is handed over', () => {
  test('has dates behind its weeks and its days in words', () => {
    const { calendar, milestones, gates } = print(hiringPlan());
    expect(calendar).toMatchObject({
      start: 'Monday, 30 November 2026',
      opening: 'Tuesday, 16 March 2027',
    });
    expect(milestones[1]!['weeks']).toMatch(/^4-10 \(21 December 2026 ?– ?5 February 2027\)$/);
    expect(gates.map(({ when }) => when)).toEqual([
      'week 3 (Friday, 18 December 2026)',
      'Monday, 1 March 2027',
    ]);
  });

  test('is in the language of the plan, and a week ends on its last day of work', () => {
    const { answer, milestones } = print(bakersPlan());
    expect(answer).toMatch(/^Insgesamt kostet es 9\.840\s€, davon 20\s€ im Monat;/);
    expect(milestones[0]!['weeks']).toMatch(/^1-2 \(4\. ?– ?15\. Januar 2027\)$/);
    expect(print(clinicPlan()).milestones[0]!['weeks']).toMatch(/ 7 February 2027\)$/);
  });

  test.each(Object.entries(SOUND_PLANS))(
    'is as sound as %s and has the same values',
    (_n, make) => {
      const plan = make();
      const before = checkPlan(readSound(plan));
      const after = checkPlan(readSound({ ...plan, plan: print(plan) }));
      expect(after.problems).toEqual([]);
      expect(after.values.list).toEqual(before.values.list);
    },
  );

  test('keeps days as they were where their words would not be read back', () => {
    const plan = hiringPlan();
    plan.plan.calendar['language'] = 'ja';
    expect(print(plan).calendar['opening']).toBe('2027-03-16');
    expect(print(plan).gates[1]!['when']).toBe('2027-03-01');
  });

  test('is printed a second time as it is', () => {
    const plan = hiringPlan();
    const once = print(plan);
    expect(print({ ...plan, plan: once })).toEqual(once);
  });
});
