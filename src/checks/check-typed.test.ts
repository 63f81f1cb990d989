import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { contractOf, hiringPlan, readSound } from '../../test/checks/sound-plans.ts';
import { checkPlan } from './check-plan.ts';
import { gatherPlan } from './gather-plan.ts';
import { RECORD_READERS } from './read-records.ts';
import { findAmounts } from './typed-amounts.ts';

/** What is found when a document of the sound plan says one sentence more. */
const say = (sentence: string): string[] => {
  const plan = hiringPlan();
  plan.architecture.operation.push(sentence);
  return checkPlan(readSound(plan)).problems.map(({ code }) => code);
};

describe('a sentence that contradicts the records is found', () => {
  test.each([
    ['range_excludes_sum', 'Estimates run from 1,180 to 1,378 hours.'],
    ['range_excludes_sum', 'Der Aufwand beträgt 500 bis 700 Stunden.'],
    ['total_changed', 'All items together take 300 hours.'],
    ['total_changed', 'The plan grants 401 planned hours.'],
    ['total_changed', 'The total is 2,500 dollars until the opening.'],
    ['range_excludes_sum', 'The effort of Ana is estimated at 200 to 240 hours.'],
    ['range_excludes_sum', 'For Ana, Ben and Chris the estimates come to 600 to 700 hours.'],
    ['total_changed', 'With it, 92 % of all hours are committed.'],
    ['person_hours_changed', 'Ben spends 30 hours a week on the page.'],
    ['person_hours_changed', 'Ben has 12 hours a week.'],
    ['share_over_whole', 'The share of firms that pay reaches 130 %.'],
    ['date_mismatch', 'In week 4 (4 January 2027) the page is shown.'],
    ['date_mismatch', 'It is shown on Monday, 5 January 2027.'],
    ['date_mismatch', 'It opens to every firm on 23 March 2027.'],
  ])('%s: %s', (code, sentence) => {
    expect(say(sentence)).toEqual([code]);
  });
});

describe('a sentence that says something else, or the same, is not', () => {
  test.each([
    'The estimate is 270 to 370 hours in all.',
    'Without the page the plan would come to 250 hours.',
    'W4 is estimated at 60 to 80 hours, and answers come within 400 hours in total.',
    'In all, 372 hours a year go into operation.',
    'Ana gives 5 hours a week to support, and Ben has 4 hours a week left.',
    'Ana and Ben have 45 hours a week together.',
    'Load tests run at 150 % of the expected load and costs grow by 120 %.',
    'Of everything, 42 % of the hours are planned and 25 % of all hours stay free.',
    '420 hours at 80 euros including VAT (assumption); 372 are planned.',
    '420 hours are paid, so each planned hour carries 100 euros.',
    'The first milestone is estimated at 140 to 190 hours.',
    'Ana and Ben are planned for 310 hours together, and the effort of Ben is 110 to 155 hours.',
    'After the opening Ben has 2 hours a week.',
    'Revenue comes to 4,900 dollars in total.',
    'The pilot opens to five firms on 23 February 2027.',
    'In week 4 (21 to 25 December) two people are away; week 3 ends on 18 December.',
    'If it goes live on 6 April 2027, the trade fair is over.',
    'It opens on 16 March 2027.',
    'The server costs $1,680 a year, $140 a month.',
  ])('%s', (sentence) => {
    expect(say(sentence)).toEqual([]);
  });
});

test('the range of a run that failed is found beside the items that it leaves out', () => {
  const plan = hiringPlan();
  plan.plan.people = [{ name: 'Ana', hours_per_week: 40 }, ...plan.plan.people.slice(1)];
  plan.plan.milestones = [{ title: 'All', weeks: '1-60', outcome: 'Done.' }];
  plan.work_plan.answer = '';
  const [first] = plan.work_plan.work_items;
  plan.work_plan.work_items = [
    { ...first, owner: 'Ana', effort_low: 1_203, effort_high: 1_501, findings: [] },
  ];
  plan.architecture.answer = 'The estimates run from 1,580 to 2,178 hours.';
  const found = checkPlan(readSound(plan)).problems.filter(({ code }) => /range|total/.test(code));
  expect(found.map(({ code }) => code)).toEqual(['range_excludes_sum']);
  expect(found[0]!.message).toContain('the work items come to 1,203 to 1,501 hours');
});

test('the text of a plan that was really written contradicts none of its records', () => {
  const folder = fileURLToPath(new URL('../../examples/bakery-plan/', import.meta.url));
  const documents = ['plan', 'work_plan', 'requirements', 'architecture'].map((key) => {
    const [path] = globSync(`session_*/*/6_result/documents/*_1_${key}.json`, { cwd: folder });
    const contract = contractOf(key);
    const content: unknown = JSON.parse(readFileSync(`${folder}${path}`, 'utf8'));
    return { title: contract.title, contract, content };
  });
  const calendar = RECORD_READERS.calendar({ country: 'DE', start: '2026-11-23' });
  const { problems } = checkPlan({ ...gatherPlan(documents), calendar, today: '2026-11-15' });
  const typed = problems.filter(({ details }) => details['document'] !== undefined);
  expect(typed.map(({ message }) => message)).toEqual([]);
  expect(problems.map(({ code }) => code)).toContain('too_little_free');
});

test('amounts are read with their unit and the period behind them', () => {
  const read = (text: string) =>
    findAmounts(text).map(({ low, high, unit, per }) => [low, high, unit, per]);
  expect(read('from 1,580 to 2,178 hours')).toEqual([[1580, 2178, 'hours', '']]);
  expect(read('20 hours a week, 3 h per day')).toEqual([
    [20, 20, 'hours', 'week'],
    [3, 3, 'hours', 'other'],
  ]);
  expect(read('€1,200 to €1,500; 40 euros monthly')).toEqual([
    [1200, 1500, 'EUR', ''],
    [40, 40, 'EUR', 'month'],
  ]);
  expect(read('W12 hours, hours 5')).toEqual([]);
});
