import { expect, test } from 'vitest';
import {
  addDays,
  daysBetween,
  isDay,
  localDay,
  mondayOf,
  sayDay,
  sayDays,
  weekdayOf,
} from './day.ts';

test('a day is told from a text that only looks like one', () => {
  expect(isDay('2028-02-29')).toBe(true);
  for (const text of ['2027-02-29', '2027-13-01', '2027-1-4', '27-01-04', '2027-01-04T00:00', '']) {
    expect(isDay(text), text).toBe(false);
  }
});

test('days are counted across the end of a year and the change of clocks', () => {
  expect(addDays('2026-12-28', 7)).toBe('2027-01-04');
  expect(daysBetween('2027-03-27', '2027-03-29')).toBe(2);
  expect(addDays('2027-01-03', 1e15)).toBe('9999-12-31');
  expect(addDays('2027-01-03', -1e15)).toBe('0001-01-01');
  expect(mondayOf('2027-01-03')).toBe('2026-12-28');
  expect(weekdayOf('2026-11-19')).toBe(4);
});

test('a day is said in words, in the language of the locale', () => {
  expect(sayDay('2026-11-19')).toBe('Thursday, 19 November 2026');
  expect(sayDay('2026-11-19', 'de')).toBe('Donnerstag, 19. November 2026');
  expect(sayDays('2027-01-04', '2027-01-08')).toMatch(/^4 ?– ?8 January 2027$/);
  expect(sayDays('2026-12-28', '2027-01-03')).toBe('28 December 2026 – 3 January 2027');
});

test('the day of a moment is that of the machine, whatever its time zone', () => {
  expect(localDay(new Date(2026, 10, 19, 0, 5))).toBe('2026-11-19');
  expect(localDay(new Date(2026, 10, 19, 23, 55))).toBe('2026-11-19');
});
