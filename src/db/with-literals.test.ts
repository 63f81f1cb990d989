import pg from 'pg';
import { expect, test } from 'vitest';
import { withLiterals } from './with-literals.ts';

test('parameters become literals that cannot end early', () => {
  expect(withLiterals('select $1, $2, $10', ["it's", 'a\\b', 3, 4, 5, 6, 7, 8, 9, null])).toBe(
    "select 'it''s',  E'a\\\\b', null",
  );
  expect(withLiterals('$1', ["'; drop table jobs; --"])).toBe("'''; drop table jobs; --'");
});

test('values are turned to text as those of parameters', () => {
  expect(withLiterals('$1, $2, $3', [['a', 'b"'], { n: 1 }, true])).toBe(
    `'{"a","b\\""}', '{"n":1}', 'true'`.replace(`'{"a","b\\""}'`, ` E'{"a","b\\\\""}'`),
  );
  expect(withLiterals('$1', [Buffer.from('ab')])).toBe(String.raw`'\x6162'`);
  expect(withLiterals('$1, $1', [undefined])).toBe('null, null');
});

test('what a parameter holds is not looked through for parameters', () => {
  expect(withLiterals('$1, $2', ['$2', 'two'])).toBe("'$2', 'two'");
});

test('texts are escaped as node-postgres does it', () => {
  const texts = [
    '',
    "'",
    '\\',
    "''\\'\\\\",
    'plain',
    '$&',
    "$'",
    '漢字 — “it’s”',
    '\n\t{"a": "b\\n"}',
  ];
  for (const text of texts) {
    expect(withLiterals('$1', [text])).toBe(pg.escapeLiteral(text));
  }
});
