import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount, GREATEST_AMOUNT, parseAmount } from './amounts.ts';

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

  test('above a billion dollars, or 10^15 tokens, are refused by name', () => {
    const tooLarge = expect.objectContaining({ code: 'amount_too_large' });
    expect(parseAmount('1000000000', 'USD')).toBe(GREATEST_AMOUNT);
    expect(() => parseAmount('1000000000.000001', 'USD')).toThrow(tooLarge);
    expect(() => parseAmount('9'.repeat(300), 'USD')).toThrow('is more than $1000000000.00.');
    expect(parseAmount('1000000000000000', 'token')).toBe(GREATEST_AMOUNT);
    expect(() => parseAmount('1000000000000001', 'token')).toThrow(tooLarge);
  });

  test('tokens are whole numbers', () => {
    expect(parseAmount('200_000', 'token')).toBe(200_000);
    expect(() => parseAmount('1.5', 'token')).toThrow(/tokens/);
  });
});
