import { expect, test } from 'vitest';
import { freezeDeep, Memo } from './memo.ts';

test('a memo makes what it is asked for once, and forgets the least recently used', () => {
  const made: string[] = [];
  const memo = new Memo<string>(2);
  const ask = (key: string) =>
    memo.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(ask)).toEqual(['A', 'B', 'A', 'C', 'A', 'B']);
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});

test('a value that is shared refuses changes at any depth', () => {
  const value = freezeDeep({ list: [{ text: 'x' }] });
  expect(() => Object.assign(value.list[0]!, { text: 'y' })).toThrow(TypeError);
  expect(() => value.list.push({ text: 'y' })).toThrow(TypeError);
});
