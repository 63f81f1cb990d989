import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAmount, readPer, readText, readUnit, readWeek, saysNothing } from './read-values.ts';

test.each([
  [8, 8, 8, ''],
  ['8 h', 8, 8, 'hours'],
  ['8h', 8, 8, 'hours'],
  ['8-12', 8, 12, ''],
  ['8–12 hours', 8, 12, 'hours'],
  ['8 h to 12 h', 8, 12, 'hours'],
  ['between 12 and 8 days', 8, 12, 'days'],
  ['about 30 min', 30, 30, 'minutes'],
  ['€1,200', 1_200, 1_200, 'EUR'],
  ['1.200 €', 1_200, 1_200, 'EUR'],
  ['1.200,50 EUR', 1_200.5, 1_200.5, 'EUR'],
  ['$1,200.50', 1_200.5, 1_200.5, 'USD'],
  ['15 000 euros', 15_000, 15_000, 'EUR'],
  ["CHF 15'000", 15_000, 15_000, 'CHF'],
  ['€15k', 15_000, 15_000, 'EUR'],
  ['10-12k EUR', 10_000, 12_000, 'EUR'],
  ['1.500 hours', 1.5, 1.5, 'hours'],
  ['1,5 h', 1.5, 1.5, 'hours'],
  ['0.25', 0.25, 0.25, ''],
  ['€20/month', 20, 20, 'EUR'],
  ['1 hour a week', 1, 1, 'hours'],
  ['5 %', 5, 5, 'percent'],
] as const)('reads %j as %d to %d %s', (written, low, high, unit) => {
  expect(readAmount(written)).toEqual({ low, high, unit });
});

test.each(['', 'a few days', 'tbd', null, undefined, {}, true, Number.NaN])(
  'finds no amount in %j',
  (written) => {
    expect(readAmount(written)).toBeNull();
  },
);

test.each([
  [3, 3],
  ['week 3', 3],
  ['W3-4', 3],
  ['Week 10 (Monday)', 10],
  ['month 2', 5],
  ['day 9', 2],
  [0, 1],
  ['2026-11-02', null],
  ['soon', null],
] as const)('reads %j as week %s', (written, week) => {
  expect(readWeek(written)).toBe(week);
});

test.each([
  ['week', 'week'],
  ['per month', 'month'],
  ['monthly', 'month'],
  ['p.a.', 'year'],
  ['first year', 'year'],
  ['one-off', 'once'],
  ['', ''],
] as const)('reads the period %j as %j', (written, per) => {
  expect(readPer(written)).toBe(per);
});

test('takes "none" and a dash for an answer, and "no idea" for none', () => {
  expect(['none', 'n/a', '-', 'included', 'None.', 'keine'].every(saysNothing)).toBe(true);
  expect(['no idea', 'W1', '0'].some(saysNothing)).toBe(false);
});

test('reads whatever a model may write without an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'grapheme' })), (written) => {
      readWeek(written);
      const text = readText(written);
      expect(typeof readUnit(text) + typeof readPer(text)).toBe('stringstring');
      const amount = readAmount(written);
      if (amount !== null) expect(amount.low).toBeLessThanOrEqual(amount.high);
    }),
  );
});
