import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signTest, summarise } from './statistics.ts';

/** How many of all sequences of `of` throws split at least as unevenly, by counting them. */
function enumerate(ahead: number, of: number): number {
  let uneven = 0;
  for (let throws = 0; throws < 2 ** of; throws++) {
    const heads = throws.toString(2).replaceAll('0', '').length;
    if (Math.max(heads, of - heads) >= ahead) uneven++;
  }
  return uneven / 2 ** of;
}

/** The probability by logarithms of factorials, which is another way to it. */
function approximate(share: number, of: number): number {
  const ahead = Math.floor(share);
  const logs = [0];
  for (let n = 1; n <= of; n++) logs.push(logs[n - 1]! + Math.log(n));
  let sum = 0;
  for (let heads = ahead; heads <= of; heads++) {
    sum += Math.exp(logs[of]! - logs[heads]! - logs[of - heads]! - of * Math.LN2);
  }
  return Math.min(1, 2 * sum);
}

describe('signTest', () => {
  test.each([
    [1, 0, 1],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [5, 1, 0.21875],
    [8, 1, 0.0390625],
    [9, 1, 0.021484375],
    [14, 4, 0.030883789],
    [60, 40, 0.056887933],
    [61, 39, 0.0352002],
  ])('gives the exact probability of %i against %i', (one, other, p) => {
    const { p: found, isMoreThanChance } = signTest(one, other);
    expect(found).toBeCloseTo(p, 8);
    expect(isMoreThanChance).toBe(p < 0.05);
  });

  test.each([
    [5, 1, { for: 10, of: 12 }],
    [1, 0, { for: 6, of: 6 }],
    [2, 1, { for: 28, of: 42 }],
    [3, 3, null],
    [0, 0, null],
    [9, 1, null],
    [501, 500, null],
  ])('says from where the share of %i against %i is more than chance', (one, other, needed) => {
    expect(signTest(one, other).needed).toEqual(needed);
    expect(signTest(other, one).needed).toEqual(needed);
  });

  test('agrees with counting all sequences', () => {
    for (let of = 1; of <= 12; of++) {
      for (let one = 0; one <= of; one++) {
        const counted = enumerate(Math.max(one, of - one), of);
        expect(signTest(one, of - one).p).toBeCloseTo(counted, 12);
      }
    }
  });

  const split = fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 120 }));

  test('does not depend on which side is ahead, and stays a probability', () => {
    fc.assert(
      fc.property(split, ([one, other]) => {
        const found = signTest(one, other);
        expect(found).toEqual(signTest(other, one));
        expect(found.p).toBeGreaterThan(0);
        expect(found.p).toBeLessThanOrEqual(1);
        expect(found.isMoreThanChance).toBe(found.p < 0.05);
      }),
    );
  });

  test('finds a more uneven split of as many judgements less likely', () => {
    fc.assert(
      fc.property(split, ([one, other]) => {
        const [ahead, behind] = [Math.max(one, other), Math.min(one, other)];
        fc.pre(behind > 0);
        expect(signTest(ahead + 1, behind - 1).p).toBeLessThan(signTest(ahead, behind).p + 1e-15);
      }),
    );
  });

  test('needs a number at which that share is more than chance, and no smaller one', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 30 })), ([one, other]) => {
        const { needed, isMoreThanChance } = signTest(one, other);
        const [ahead, of] = [Math.max(one, other), one + other];
        fc.pre(!isMoreThanChance && 2 * ahead > of);
        const unlikely = (next: number): boolean => approximate((ahead * next) / of, next) < 0.05;
        const tried = Array.from({ length: (needed?.of ?? 300) - of }, (_, at) => of + 1 + at);
        const found = tried.filter(unlikely);
        expect(found).toEqual(needed === null ? [] : [needed.of]);
        if (needed !== null) expect(needed.for).toBe(Math.floor((ahead * needed.of) / of));
      }),
    );
  });
});

describe('summarise', () => {
  test('gives mean, standard deviation of a sample, and range', () => {
    const found = summarise([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(found).toMatchObject({ mean: 5, least: 2, most: 9 });
    expect(found.deviation).toBeCloseTo(Math.sqrt(32 / 7), 12);
    expect(summarise([7])).toEqual({ mean: 7, deviation: null, least: 7, most: 7 });
  });

  test('keeps the mean within the range, and finds no spread in equal values', () => {
    const values = fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(values, (given) => {
        const { mean, deviation, least, most } = summarise(given);
        expect(mean).toBeGreaterThanOrEqual(least - 1e-9);
        expect(mean).toBeLessThanOrEqual(most + 1e-9);
        // No sample of values from 0 to 10 spreads wider than one of two at the ends.
        expect(deviation).toBeLessThanOrEqual(((most - least) / 2) * Math.SQRT2 + 1e-9);
        expect(deviation === 0).toBe(least === most);
      }),
    );
  });
});
