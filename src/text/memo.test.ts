import { expect, test } from 'vitest';
import { freezeDeep, Memo, onceForPair, SizedMemo } from './memo.ts';

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

test('a memo of texts holds so many characters, and forgets the least recently used', () => {
  const memo = new SizedMemo<string>(10);
  memo.keep('a', 'A', 4);
  memo.keep('b', 'B', 4);
  expect(memo.get('a')).toBe('A');
  memo.keep('c', 'C', 4);
  expect(['a', 'b', 'c'].map((key) => memo.get(key))).toEqual(['A', undefined, 'C']);
  memo.keep('d', 'D', 11);
  expect(['a', 'c', 'd'].map((key) => memo.get(key))).toEqual([undefined, undefined, undefined]);
});

test('a value that is shared refuses changes at any depth', () => {
  const value = freezeDeep({ list: [{ text: 'x' }] });
  expect(() => Object.assign(value.list[0]!, { text: 'y' })).toThrow(TypeError);
  expect(() => value.list.push({ text: 'y' })).toThrow(TypeError);
});

test('what is made of two objects is made once for each pair', () => {
  const made: string[] = [];
  const join = onceForPair((first: { a: string }, second: { b: string }) => {
    made.push(first.a + second.b);
    return first.a + second.b;
  });
  const [one, two, three] = [{ a: '1' }, { a: '2' }, { b: '3' }];
  expect([join(one, three), join(two, three), join(one, three)]).toEqual(['13', '23', '13']);
  expect(made).toEqual(['13', '23']);
});
