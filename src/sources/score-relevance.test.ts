import { expect, test } from 'vitest';
import { scoreRelevance } from './score-relevance.ts';

test('a text that is about the request scores higher than one that is not', () => {
  const score = scoreRelevance('Should the library open on Sundays?');
  expect(score('The library may open on Sundays.')).toBeGreaterThan(0.6);
  expect(score('Rain fell on the harbour.')).toBeLessThan(0.2);
  expect(score('')).toBe(0);
  expect(scoreRelevance('')('Anything.')).toBe(0);
});

test('neither case nor order matters, and of a long text the first pages count', () => {
  const score = scoreRelevance('Sundays library');
  expect(score('LIBRARY on SUNDAYS')).toBe(1);
  expect(score(`${'filler '.repeat(100_000)} library sundays`)).toBe(0);
});
