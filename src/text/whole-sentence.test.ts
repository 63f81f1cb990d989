import { expect, test } from 'vitest';
import { finishSentence, nameAfter } from './whole-sentence.ts';

test.each([
  ['Parents order on a phone', 'Parents order on a phone.'],
  ['one list:', 'One list.'],
  ['It is done.', 'It is done.'],
  ['Is it done?', 'Is it done?'],
  ['他们预约。', '他们预约。'],
  ['He said "no."', 'He said "no."'],
])('%s ends as a sentence does', (given, expected) => {
  expect(finishSentence(given)).toBe(expected);
});

test('a long sentence ends behind a clause, or behind a word that can stand last', () => {
  const clause = 'The city promises a connection for less money than a heat pump would cost';
  expect(finishSentence(`${clause}, ${'and so it goes on '.repeat(20)}`)).toMatch(
    /^The city promises a connection .* cost\.$/,
  );
  const endless = finishSentence('people order the bread of the day '.repeat(20));
  expect(endless).toMatch(/^People .*(?:people|order|bread|day)\.$/);
  expect(endless.length).toBeLessThanOrEqual(241);
});

test('a name is the beginning of a sentence without words that ask for more', () => {
  expect(nameAfter('The boiler is from 1998.', 8)).toBe('The boiler is from 1998');
  const volunteers = 'Volunteers should hand out a tool within two minutes at the counter.';
  expect(nameAfter(volunteers, 8)).toBe('Volunteers should hand out a tool');
  expect(nameAfter('Parents should order until 8 am, on a phone, in German.', 9)).toBe(
    'Parents should order until 8 am',
  );
});
