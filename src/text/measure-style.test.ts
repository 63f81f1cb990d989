import { describe, expect, test } from 'vitest';
import { measureStyle, tellStyle } from './measure-style.ts';

const FULL = [
  'The baker prints the list of all reserved loaves at six in the evening.',
  'A customer who is late may still take the bread until the shop closes.',
  'If the printer has no paper, both bakers get a text with the right totals.',
];
const CLIPPED = [
  'No page at 6:05 pm, no totals, no bread.',
  'Reserve of 400 euros for the second printer.',
  'Full parity with the old spreadsheet by Friday evening.',
];
const times = (sentences: readonly string[], count: number): string =>
  Array.from({ length: count }, () => sentences.join(' ')).join('\n\n');

describe('the style of a text', () => {
  test('is the words of a sentence on average and the share of sentences without a verb', () => {
    expect(measureStyle(times(FULL, 4))).toEqual({
      sentences: 12,
      averageWords: expect.closeTo(14.33, 1) as number,
      fragments: 0,
    });
    const clipped = measureStyle(times(CLIPPED, 4))!;
    expect(clipped.averageWords).toBeLessThan(10);
    expect(clipped.fragments).toBeGreaterThan(0.9);
    expect(measureStyle(times([...FULL, ...CLIPPED], 4))!.fragments).toBeCloseTo(0.5);
  });

  test('knows an order by its verb: imperatives are sentences', () => {
    const orders = [
      'Call both suppliers on Monday and ask for the price of paper.',
      'Write the three questions of the interview on one page.',
    ];
    expect(measureStyle(times(orders, 6))!.fragments).toBe(0);
  });

  test('leaves out headings, tables, code and lists of values', () => {
    const values = '- Owner: the founder\n- Week 3\n- 400 €\n';
    const table =
      '| Item | Price |\n| --- | --- |\n| Two printers for the shop counter | 400 € |\n';
    const rest = `# The plan of the shop for the first winter\n\n${values}\n${table}\n`;
    const code = '```mermaid\nflowchart LR\nshop --> box --> printer --> tray --> baker\n```\n';
    expect(measureStyle(`${rest}${code}\n${times(FULL, 4)}`)).toEqual(measureStyle(times(FULL, 4)));
  });

  test('is not told of too little prose, nor of verbs in another language', () => {
    expect(measureStyle(times(FULL, 3))).toBeNull();
    expect(measureStyle('')).toBeNull();
    const german = 'Der Bäcker druckt um sechs Uhr abends die Liste aller bestellten Brote.';
    expect(measureStyle(times([german], 12))).toMatchObject({ sentences: 12, fragments: null });
  });

  test('takes time in proportion to the length of hostile text', () => {
    const parts = ['<!--', '[', '](', '**', '. ', '| ', '```\n'];
    for (const part of parts) {
      const started = performance.now();
      measureStyle(part.repeat(200_000 / part.length));
      expect(performance.now() - started, part).toBeLessThan(2_000);
    }
  });
});

test('a style is told in a line', () => {
  expect(tellStyle({ sentences: 40, averageWords: 14.6, fragments: 0.044 })).toBe(
    '15 words a sentence, 4 % without a verb',
  );
  expect(tellStyle({ sentences: 40, averageWords: 14.6, fragments: null })).toBe(
    '15 words a sentence',
  );
});
