import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareIds, idKey, readIds } from './ids.ts';

test.each([
  [['D1'], ['D1']],
  ['D1, D2', ['D1', 'D2']],
  ['D1 and D2; D2', ['D1', 'D2']],
  ['D1-D3', ['D1', 'D2', 'D3']],
  ['W2 to W4', ['W2', 'W3', 'W4']],
  ['W4: build the page', ['W4']],
  [
    ['W4 (page)', 'W5'],
    ['W4', 'W5'],
  ],
  ['M1-W2', ['M1-W2']],
  ['set-up', ['set-up']],
  [[{ id: 'W1' }], ['W1']],
  [3, ['3']],
  ['none', []],
  ['—', []],
  [null, []],
] as const)('reads the ids in %j', (written, ids) => {
  expect(readIds(written)).toEqual(ids);
});

test('knows one id in other spellings, and no more than that', () => {
  expect(new Set(['D1', 'd-01', 'D 1', 'd_1'].map(idKey)).size).toBe(1);
  expect(new Set(['D1', 'D10', 'D1.1', 'E1', 'set-up'].map(idKey)).size).toBe(5);
});

test('orders ids as people count, in one order for any start', () => {
  expect(['W10', 'W2', 'D1', 'W1.2', 'W1'].toSorted(compareIds)).toEqual([
    'D1',
    'W1',
    'W1.2',
    'W2',
    'W10',
  ]);
  const ids = fc.array(fc.oneof(fc.stringMatching(/^[A-Wa-w]{0,2}[0-9.-]{0,3}$/), fc.string()));
  fc.assert(
    fc.property(ids, (some) => {
      const order = some.toSorted(compareIds);
      expect(some.toReversed().toSorted(compareIds)).toEqual(order);
    }),
  );
});
