import { expect, test } from 'vitest';
import { toCsv } from './csv.ts';

test('cells with commas, quotes and formulas stay cells', () => {
  const rows = [{ a: 'x,"y"', b: -5, c: '=1+1', d: null }];
  expect(toCsv(['a', 'b', 'c', 'd'], rows)).toEqual(['a,b,c,d', `"x,""y""",-5,'=1+1,`]);
});
