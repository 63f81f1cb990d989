import { test } from 'vitest';
import { temporaryFolder } from '../stores.ts';
import { cutEverywhere } from './cut-everywhere.ts';

test('a log cut at any byte keeps every whole record with its id, and goes on', async () => {
  const long = 'A text of many words, \u00fc\u20ac\ud83c\udf5e among them. '.repeat(20);
  await cutEverywhere(await temporaryFolder(), ['One', '', long, 'Four']);
});
