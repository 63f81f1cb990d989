import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, parseAmount } from './amounts.ts';

describe('amounts', () => {
  test('that are shown can be read again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 900_000_000_000_000 }), (micros) => {
        expect(parseAmount(formatAmount(micros, 'USD'), 'USD')).toBe(micros);
      }),
    );
  });

  test.each(['', '-1', '1.1234567', '1e3', '1,5', 'five', '1.'])(
    '%j is no sum of money',
    (text) => {
      expect(() => parseAmount(text, 'USD')).toThrow(/not an amount/);
    },
  );

  test('tokens are whole numbers', () => {
    expect(parseAmount('200_000', 'token')).toBe(200_000);
    expect(() => parseAmount('1.5', 'token')).toThrow(/tokens/);
  });
});
