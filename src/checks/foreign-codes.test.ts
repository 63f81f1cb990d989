import { expect, test } from 'vitest';
import { findForeignCodes } from './foreign-codes.ts';

const text = 'W1 needs W2 and W03, serves D1, D-2 and D3 (F7, F8). Print on A4, TLS1.3, S3.';
const records = { items: [{ id: 'W1', parts: [{ id: 'W-2' }] }, { id: 'W3' }] };

test('codes that the document defines, and names that only look like codes, are not foreign', () => {
  // F7 and F8 alone are no family; a third one makes them one.
  expect(findForeignCodes({ text, ...records })).toEqual(['D1', 'D2', 'D3']);
  const more = { text: `${text} F10 F20 F21`, decided: [{ finding: 'F20, F21' }], ...records };
  expect(findForeignCodes(more)).toEqual(['D1', 'D2', 'D3', 'F7', 'F8', 'F10']);
});

test('what a field refers to by id is no prose, and the parts of a number or a word no codes', () => {
  const work = [{ id: 'W1', needs: ['W2', 'W4', 'W5'], demands: 'D1, D2, D3', findings: ['F1'] }];
  expect(findForeignCodes({ work })).toEqual([]);
  const demands = [{ id: 'D1', text: '1.D4 xD5 D6x M-1.2 M-1.3 M-2' }];
  expect(findForeignCodes({ demands })).toEqual(['M1.2', 'M1.3', 'M2']);
});
