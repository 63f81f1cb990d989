import { test } from 'vitest';
import { compareWithParser } from './markers-oracle.ts';
import { readWithRemark } from './remark-oracle.ts';

test('markers of 100,000 documents are found where a whole parser shows them', () => {
  compareWithParser(100_000);
});

test.each([1, 2, 3])(
  'markers of 10,000 documents are found where remark shows them, %i',
  (seed) => {
    compareWithParser(10_000, [readWithRemark], seed);
  },
);
