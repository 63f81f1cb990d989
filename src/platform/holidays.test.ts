import { expect, test } from 'vitest';
import { loadHolidays } from './holidays.ts';

const find = await loadHolidays();
const on = (country: string, day: string) =>
  find(country)
    ?.holidays(Number(day.slice(0, 4)))
    .get(day);

test('a country is found by code or English name, with the holidays of its state', () => {
  expect(find('DE')?.name).toBe('Germany');
  expect(find('germany')?.name).toBe('Germany');
  expect(find('DE-BY')?.name).toBe('Germany, Bayern');
  expect(on('DE', '2027-01-06')).toBeUndefined();
  expect(on('DE-BY', '2027-01-06')).toBe('Epiphany');
  expect(on('US', '2027-11-25')).toBe('Thanksgiving Day');
});

test.each(['', 'Atlantis', 'XX', 'constructor', '__proto__'])('%j is no country', (country) => {
  expect(find(country)).toBeNull();
});

test('a holiday of several days takes each of them, and half a day takes none', () => {
  const eid = ['2027-03-09', '2027-03-10', '2027-03-11', '2027-03-12'];
  expect(eid.map((day) => on('SA', day) !== undefined)).toEqual([true, true, true, true]);
  expect(on('CN', '2027-05-04')).toBeUndefined();
});

test('what is written for a state that does not exist is the country', () => {
  expect(find('DE-XX')?.name).toBe('Germany');
  expect(find('de-xx')).toBe(find('Germany'));
});

test('years that no rule speaks of have no holidays', () => {
  expect(find('DE')?.holidays(9999).size).toBe(0);
});

test('the weekend is that of the country', () => {
  expect(find('DE')?.weekend).toEqual([6, 7]);
  expect(find('SA')?.weekend).toEqual([5, 6]);
});
