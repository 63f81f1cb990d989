import { expect, test } from 'vitest';
import { bakeryPlan, readPlan } from '../../test/checks/bakery-plan.ts';
import { checkPlan } from './check-plan.ts';
import { drawSchedule } from './draw-schedule.ts';

const input = readPlan(bakeryPlan());
const { schedule } = checkPlan(input);

test('the sound plan runs as its needs and hours allow', () => {
  expect(
    schedule.map((item) => `${item.id} ${item.startWeek}-${item.endWeek} ${item.after}`),
  ).toEqual([
    'W1 1-1 null',
    'W2 1-1 null',
    'W3 2-2 null',
    'W4 3-4 W3',
    'W5 4-5 W4',
    'W6 5-5 W5',
    'W7 5-6 W6',
    'W8 6-7 W7',
    'W9 7-8 W8',
  ]);
});

test('the drawing has a section for each owner and a bar for each item', () => {
  const lines = drawSchedule(schedule).split('\n');
  expect(lines.slice(0, 8)).toEqual([
    'gantt',
    '  dateFormat YYYY-MM-DD',
    '  axisFormat week %W',
    '  tickInterval 1week',
    '  weekday monday',
    '  todayMarker off',
    '  section Both bakers',
    '    W1 Ask twenty regulars, 1 hour :t1, 2001-01-01, 7d',
  ]);
  expect(lines).toContain('    W4 Build the order page, 36 hours :t5, 2001-01-15, 14d');
  expect(lines.filter((line) => line.startsWith('  section '))).toEqual([
    '  section Both bakers',
    '  section developer',
    '  section bakers + developer',
  ]);
});

test('with a start date the drawing shows dates', () => {
  const drawn = drawSchedule(schedule, '2026-11-02');
  expect(drawn).toContain('axisFormat %d %b');
  expect(drawn).toContain('W4 Build the order page, 36 hours :t5, 2026-11-16, 14d');
});

/** The tokens of Mermaid's gantt grammar for a bar: a name and its data, nothing else. */
const BAR =
  /^ {4}(?!(?:title|section|click|gantt|weekday|acc)\b)[^#:;%\n]+ :t\d+, \d{4}-\d\d-\d\d, \d+d$/i;

test.each([
  ['W1', 'Pay: 50 % now; the rest #later'],
  ['section', 'two'],
  ['title', 'page'],
  ['2026-01-01', 'new year'],
  ['', '`code` {x} <b>bold</b>\nnext line'],
])('names do not end or begin a statement: %j %j', (id, title) => {
  const drawn = drawSchedule([{ ...schedule[0]!, id, title, owners: ['A: b; c # d %% e'] }]);
  const [section, bar, end] = drawn.split('\n').slice(6);
  expect(section).toMatch(/^ {2}section [^#:;%]+$/);
  expect(bar).toMatch(BAR);
  expect(end).toBe('');
});
