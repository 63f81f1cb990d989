import { describe, expect, test } from 'vitest';
import { createNearDuplicates } from './near-duplicates.ts';
import { likenessOf } from './shingles.ts';

const WORDS = 300;

/** A text of words that depend on its number; every `step`th is replaced. */
const textOf = (number: number, step = Infinity): string =>
  Array.from({ length: WORDS }, (_, at) =>
    (at + 1) % step === 0 ? `other${at}` : `word${(number * 7919 + at * 104_729) % 5_003}`,
  ).join(' ');

describe.each(['min-hash', 'lsh-forest', 'sim-hash'] as const)(
  'near duplicates by %s',
  (method) => {
    test('are found among many others, and few others with them', () => {
      const near = createNearDuplicates(method);
      for (let number = 1; number <= 200; number++) near.add(number, near.sign(textOf(number)));
      // SimHash tells only texts of which next to nothing was changed.
      const step = method === 'sim-hash' ? 250 : 60;
      const found = Array.from({ length: 20 }, (_, at) =>
        near.find(near.sign(textOf(at + 1, step))),
      );
      const right = found.filter((candidates, at) => candidates.includes(at + 1));
      expect(right.length).toBeGreaterThanOrEqual(method === 'sim-hash' ? 10 : 20);
      expect(near.find(near.sign('. '))).toEqual([]);
      expect(near.find(near.sign(textOf(5)))).toContain(5);
    });
  },
);

describe('likeness', () => {
  test('is the share of common runs of three words, whatever their case and marks', () => {
    expect(likenessOf('One two three four.', 'one, TWO three four')).toBe(1);
    expect(likenessOf('one two three four', 'one two three five')).toBeCloseTo(1 / 3);
    expect(likenessOf('one', 'one')).toBe(1);
    expect(likenessOf('', '')).toBe(0);
  });
});
