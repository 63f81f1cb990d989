import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays, sayDay } from '../text/day.ts';
import { findDays, isOtherWeekday, readDay, readDayRanges } from './read-days.ts';

const days = (text: string, language = 'en'): string[] =>
  findDays(text, '2026-11-19', language).map(({ day }) => day);

test.each([
  ['2027-01-04', ['2027-01-04']],
  ['Monday, 4 January 2027', ['2027-01-04']],
  ['January 4th, 2027, to Jan. 8, 2027', ['2027-01-04', '2027-01-08']],
  ['4. Januar 2027 bis 8.1.2027', ['2027-01-04', '2027-01-08']],
  ['the 3rd of March, and on 4 SEPTEMBER 2027', ['2027-03-03', '2027-09-04']],
  ['20 November and 18 November', ['2026-11-20', '2027-11-18']],
  ['May 15 people come, and 30 may stay', ['2027-05-15']],
  ['version 1.2.2027.4, 30 February 2027, 12/01/2027, 3.5.27', []],
])('in %j the days %j are found', (text, found) => {
  expect(days(text, 'de')).toEqual(found);
});

test('every day is read back from the words in which it is said', () => {
  const day = fc.integer({ min: 0, max: 8_000 }).map((count) => addDays('2020-01-01', count));
  fc.assert(
    fc.property(day, fc.constantFrom('en-GB', 'en-US', 'de', 'fr', 'es', 'pl'), (one, locale) => {
      const [found, ...others] = findDays(sayDay(one, locale), '2020-01-01', locale);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ day: one, hasYear: true });
      expect(isOtherWeekday(found!)).toBe(false);
      expect(readDay(sayDay(one, locale))).toBe(one);
    }),
  );
});

test('a weekday of another day is told, and one that fits the year after is not', () => {
  const [wrong] = findDays('Friday, 4 January 2027', '2026-11-19');
  expect(isOtherWeekday(wrong!)).toBe(true);
  const [open] = findDays('Tuesday, 4 January', '2026-11-19');
  expect(isOtherWeekday(open!)).toBe(false);
});

test('a field gives its first day with a year, and ranges give both ends', () => {
  expect(readDay('by 3 March, at the latest 2027-03-10')).toBe('2027-03-10');
  expect(readDay('in March')).toBeNull();
  expect(readDayRanges('2026-12-24 to 2027-01-01, 2027-02-12; soon')).toEqual([
    { from: '2026-12-24', to: '2027-01-01' },
    { from: '2027-02-12', to: '2027-02-12' },
  ]);
  expect(readDayRanges('2027-02-12 to 2027-02-01')).toEqual([]);
});
