import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costMicros, type ModelPrice } from '../models/prices.ts';
import { affordableOutput, worstCase } from './worst-case.ts';

const rate = fc.integer({ min: 0, max: 90_000 }).map((n) => n / 1000);
const rates = fc.record({ input: rate, cachedInput: rate, cacheWrite: rate, output: rate });
const tokens = fc.integer({ min: 0, max: 400_000 });
const price: fc.Arbitrary<ModelPrice> = fc.record({
  source: fc.constant('catalogue' as const),
  rates,
  steps: fc.array(fc.record({ aboveInputTokens: fc.constant(200_000), rates }), { maxLength: 1 }),
});

describe('the worst case of a call', () => {
  test('is at least what any use of the allowed tokens costs', () => {
    fc.assert(
      fc.property(price, tokens, tokens, fc.nat(100), fc.nat(100), (of, input, most, a, b) => {
        const cheaper = {
          ...of,
          rates: cacheFriendly(of.rates),
          steps: of.steps.map((step) => ({ ...step, rates: cacheFriendly(step.rates) })),
        };
        const written = Math.floor((input * a) / 100);
        const usage = {
          inputTokens: input,
          outputTokens: Math.floor((most * b) / 100),
          cachedInputTokens: input - written,
          cacheWriteTokens: written,
          estimated: false,
        };
        expect(worstCase(cheaper, input, most).usdMicros).toBeGreaterThanOrEqual(
          costMicros(usage, cheaper),
        );
      }),
    );
  });

  test('of as much output as is affordable fits into what is left, and of more does not', () => {
    fc.assert(
      fc.property(price, tokens, fc.nat(10_000_000), (of, input, left) => {
        const most = affordableOutput(of, input, { usdLeft: left, tokensLeft: null });
        if (most === null || most === 0) return;
        expect(worstCase(of, input, most).usdMicros).toBeLessThanOrEqual(left);
        expect(worstCase(of, input, most * 2 + 100_000).usdMicros).toBeGreaterThan(left - 10);
      }),
    );
  });

  test('is free of charge, but not of tokens, where the price is unknown', () => {
    expect(worstCase(null, 100, 50)).toEqual({
      usdMicros: 0,
      tokens: 150,
      inputUsdMicros: 0,
      inputTokens: 100,
    });
    expect(affordableOutput(null, 100, { usdLeft: 5, tokensLeft: null })).toBe(null);
    expect(affordableOutput(null, 100, { usdLeft: 5, tokensLeft: 300 })).toBe(200);
  });
});

/** Reading from a cache never costs more than reading anew. */
function cacheFriendly<T extends { input: number; cachedInput: number }>(of: T): T {
  return { ...of, cachedInput: Math.min(of.cachedInput, of.input) };
}
