import { expect, test } from 'vitest';
import { findStyleDefects } from './find-style-defects.ts';

const times = (sentence: string): string => Array(20).fill(sentence).join(' ');

test('full sentences of ordinary length are no defect', () => {
  const sentence =
    'The baker prints the list of all reserved loaves at six in the evening and hangs it up.';
  expect(findStyleDefects(times(sentence))).toEqual([]);
  expect(findStyleDefects(times('We ask both bakers for the price of the bread today.'))).toEqual(
    [],
  );
});

test('clipped notes are told with their share and what to do', () => {
  expect(
    findStyleDefects(times('Full parity with the old spreadsheet by Friday evening.')),
  ).toEqual([
    "About 100 % of the document's 20 sentences have no verb. Write full sentences with a subject " +
      'and a verb, and leave out what has no room as a sentence.',
  ]);
  expect(findStyleDefects(times('The box prints at six.'))[0]).toMatch(
    /^The 20 sentences of the document have 5 words on average; 12 to 22 were asked for\. Join /,
  );
});

test('sentences that never end are told', () => {
  const long = `The baker prints ${'the list of the bread and the rolls and '.repeat(4)}the rest.`;
  expect(findStyleDefects(times(long))).toEqual([expect.stringContaining('Split long sentences')]);
});

test('a text with few sentences is not judged', () => {
  expect(findStyleDefects('No page. No bread at six. Reserve of 400 euros for now.')).toEqual([]);
});
