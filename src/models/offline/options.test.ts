import { expect, test } from 'vitest';
import { isHit, parseOfflineName } from './options.ts';

test('a persona alone has no options', () => {
  expect(parseOfflineName('steward')).toEqual({ persona: 'steward' });
});

test('options follow a question mark and add up', () => {
  const name = 'builder?fail=3&empty=always&badjson=2&cut=500&delay=20';
  const options = { fail: 3, empty: 'always', badjson: 2, cut: 500, delay: 20 };
  expect(parseOfflineName(name)).toEqual({ persona: 'builder', ...options });
});

test.each([
  ['poet', /no persona "poet"/],
  ['builder?speed=3', /"speed" is no option/],
  ['builder?cut=always', /"cut" takes a number from 1/],
  ['builder?fail=0', /"fail" takes a number from 1, or always/],
  ['builder?fail=soon', /"fail" takes/],
])('%s is refused with the reason', (name, message) => {
  expect(() => parseOfflineName(name)).toThrow(message);
});

test('a number hits the call of that number and no other', () => {
  expect([1, 2, 3].map((call) => isHit(2, call))).toEqual([false, true, false]);
  expect(isHit('always', 7)).toBe(true);
  expect(isHit(undefined, 1)).toBe(false);
});
