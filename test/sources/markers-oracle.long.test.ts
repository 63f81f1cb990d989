import { test } from 'vitest';
import { compareWithParser } from './markers-oracle.ts';

test('markers of 100,000 documents are found where a whole parser shows them', () => {
  compareWithParser(100_000);
});
