import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

describe('diffLines', () => {
  test('shows what went and what came, in order', () => {
    expect(diffLines('a\nb\nc\nd\ne', 'a\nB\nc\ne\nf')).toEqual(['- b', '+ B', '- d', '+ f']);
    expect(diffLines('same\ntext', 'same\ntext')).toEqual([]);
    expect(diffLines('', 'a')).toEqual(['- ', '+ a']);
  });

  test('accounts for every line, and for no more than need be', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (old, now) => {
        const lines = diffLines(old.join('\n'), now.join('\n'));
        const gone = lines.filter((line) => line.startsWith('- ')).length;
        const come = lines.filter((line) => line.startsWith('+ ')).length;
        expect(old.length - gone).toBe(now.length - come);
        expect(gone + come).toBe(old.length + now.length - 2 * commonLength(old, now));
      }),
    );
  });

  test('very long texts are still shown', () => {
    const [old, now] = ['a', 'b'].map((unit) => Array(3_000).fill(unit).join('\n'));
    expect(diffLines(old!, now!)).toHaveLength(6_000);
  });
});

function commonLength(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  const memo = a.map(() => b.map(() => 0));
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) {
      const [up, left, diagonal] = [memo[i - 1]?.[j], memo[i]![j - 1], memo[i - 1]?.[j - 1]];
      memo[i]![j] = x === y ? (diagonal ?? 0) + 1 : Math.max(up ?? 0, left ?? 0);
    }
  }
  return memo.at(-1)!.at(-1)!;
}
