import { expect, test } from 'vitest';
import { findForeignCodes } from './foreign-codes.ts';

test('codes that the document defines, and names that only look like codes, are not foreign', () => {
  const text = 'W1 needs W2 and W03, serves D1, D-2 and D3 (F7, F8). Print on A4, TLS1.3, S3.';
  const content = {
    decided: [{ finding: 'F20, F21' }],
    items: [{ id: 'W1', parts: [{ id: 'W-2' }] }, { id: 'W3' }],
  };
  // F7 and F8 alone are no family; a third one makes them one.
  expect(findForeignCodes(text, content)).toEqual(['D1', 'D2', 'D3']);
  expect(findForeignCodes(`${text} F10 F20 F21`, content)).toEqual([
    'D1',
    'D2',
    'D3',
    'F7',
    'F8',
    'F10',
  ]);
});

test('the parts of a number and of a word are no codes', () => {
  expect(findForeignCodes('1.D4 xD5 D6x M-1.2 M-1.3 M-2', {})).toEqual(['M1.2', 'M1.3', 'M2']);
});
