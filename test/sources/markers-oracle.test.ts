import { test } from 'vitest';
import { compareWithParser } from './markers-oracle.ts';

test('markers are found where a whole parser of Markdown shows them', () => {
  compareWithParser(2_000);
}, 60_000);
