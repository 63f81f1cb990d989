import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNameRestorer } from './restore-names.ts';

const renamed = new Map([
  ['a_x26_', 'a&'],
  ['a_x26__b', 'a&_b'],
  ['q_x22_', 'q"'],
]);
const whole = '{"a_x26_":1,"a_x26__b":"the \\"a_x26_\\" of a_x26_","q_x22_":"","a":"a_x2"}';
const restored = '{"a&":1,"a&_b":"the \\"a_x26_\\" of a_x26_","q\\"":"","a":"a_x2"}';

describe('createNameRestorer', () => {
  test('puts names back wherever the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 30 }), (cuts) => {
        const restorer = createNameRestorer(renamed);
        const at = [0, ...cuts, whole.length].toSorted((a, b) => a - b);
        const pieces = at.slice(1).map((end, n) => whole.slice(at[n], end));
        const text = pieces.map((piece) => restorer.push(piece)).join('') + restorer.flush();
        expect(text).toBe(restored);
      }),
    );
  });

  test('holds back no more than the beginning of a name', () => {
    const restorer = createNameRestorer(renamed);
    expect(restorer.push('text "a_x2')).toBe('text ');
    expect(restorer.push('7"')).toBe('"a_x27');
    expect(restorer.flush()).toBe('"');
  });
});
