import { test } from 'vitest';
import { compareWithParser } from './markers-oracle.ts';
import { readWithRemark } from './remark-oracle.ts';

test('markers are found where a whole parser of Markdown shows them', () => {
  compareWithParser(1_500);
}, 60_000);

test('markers are found where remark shows them', () => {
  compareWithParser(500, [readWithRemark], 1);
}, 60_000);
