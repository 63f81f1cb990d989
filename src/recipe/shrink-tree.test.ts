import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shrinkTree } from './shrink-tree.ts';

const orders = fc.array(fc.uniqueArray(fc.nat(9), { maxLength: 6 }), { maxLength: 8 });
const sizes = fc.array(fc.nat(1000), { minLength: 10, maxLength: 10 });

/** What is sent at full price: each beginning once. */
function sizeOf(all: readonly (readonly number[])[], weights: readonly number[]): number {
  const beginnings = new Map(
    all.flatMap((order) =>
      order.map((thing, at) => [order.slice(0, at + 1).join(), weights[thing] ?? 0] as const),
    ),
  );
  return [...beginnings.values()].reduce((sum, size) => sum + size, 0);
}

test('each order keeps its things, and the tree never grows', () => {
  fc.assert(
    fc.property(orders, sizes, (given, weights) => {
      const shrunk = shrinkTree(given, weights);
      expect(shrunk.map((order) => new Set(order))).toEqual(given.map((order) => new Set(order)));
      expect(sizeOf(shrunk, weights)).toBeLessThanOrEqual(sizeOf(given, weights));
    }),
    { numRuns: 1_000 },
  );
});

test('of two beginnings that exclude each other the longer one is shared', () => {
  const shrunk = shrinkTree([[0, 1], [1], [0, 2]], [10, 100, 1]);
  expect(shrunk).toEqual([[1, 0], [1], [0, 2]]);
});

test('all begin with what each of them has where no two of them gain by it', () => {
  const sets = [
    [1, 2, 3],
    [0, 2, 3],
    [0, 1, 2],
  ];
  const shrunk = shrinkTree(sets, [9, 4, 4, 3]);
  expect(shrunk.map(([first]) => first)).toEqual([2, 2, 2]);
});
