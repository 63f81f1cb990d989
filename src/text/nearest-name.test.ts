import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const known = ['concurrency', 'baseUrl', 'apiKey', 'local'];

test.each([
  ['concurency', 'concurrency'],
  ['BaseURL', 'baseUrl'],
  ['api_key', 'apiKey'],
  ['locale', 'local'],
])('%s is taken for %s', (wanted, meant) => {
  expect(nearestName(wanted, known)).toBe(meant);
});

test.each(['temperature', 'x', ''])('%o is like none of them', (wanted) => {
  expect(nearestName(wanted, known)).toBeUndefined();
});
