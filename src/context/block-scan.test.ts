import { expect, test } from 'vitest';
import { BlockScan } from './block-scan.ts';

const FILLER = 'The harbour was quiet that day and nothing was said about it at all. ';
const filled = (before: number, needle: string, after: number): string =>
  `${`${FILLER.repeat(20)}\n\n`.repeat(before)}${needle}\n\n${`${FILLER.repeat(20)}\n\n`.repeat(after)}`;

/** The texts of the best blocks. */
function scan(texts: readonly string[], questions: readonly string[], most: number): string[] {
  const blocks = new BlockScan(questions);
  for (const [at, text] of texts.entries()) blocks.add(text, at);
  return blocks.best(most).map(({ text, start, end }) => texts[text]!.slice(start, end));
}

test('the block that has the words of a question comes first, wherever it stands', () => {
  const texts = [filled(40, '', 40), filled(70, 'Ovens bake 1,200 loaves in a night.', 20)];
  const [first] = scan(texts, ['How many loaves does an oven bake?'], 10_000);
  expect(first).toContain('1,200 loaves');
  expect(scan(texts, ['What of 1,200?'], 10_000)[0]).toContain('1,200 loaves');
  expect(scan(texts, ['NIGHTS'], 10_000)[0]).toContain('1,200 loaves');
});

test('words are counted as in the index of parts: plurals, figures and other scripts', () => {
  const needles = [
    'Three bakeries asked.',
    'Größe und Gewicht',
    'В пекарне 40 печей',
    'the S1 line',
  ];
  for (const [at, question] of ['bakery', 'GRÖSSE größe', 'пекарне', 's1'].entries()) {
    expect(scan([filled(30, needles[at]!, 30)], [question], 4_000)[0]).toContain(needles[at]!);
  }
});

test('each question gets its share, and all together no more than there is room for', () => {
  const text = `${filled(30, 'Flour is dear.', 0)}${filled(30, 'Ovens are hot.', 30)}`;
  const found = scan([text], ['flour', 'oven'], 6_000);
  expect(found.slice(0, 2).join()).toMatch(/Flour is dear[^]*Ovens are hot/);
  expect(found.join('').length).toBeLessThanOrEqual(6_000);
  // What no question has words for is filled up from the beginning.
  expect(found[2]).toBe(text.slice(0, found[2]!.length));
});

test('blocks follow each other without a gap, and no sign of two units is divided', () => {
  const texts = ['\u{1f35e}'.repeat(5_000), 'x'.repeat(9_000), 'One line.\n'.repeat(900), '', 'a'];
  for (const text of texts) {
    const blocks = new BlockScan([]);
    blocks.add(text, 0);
    const all = blocks.best(text.length + 1);
    expect(all.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text);
    expect(all.every(({ start, end }) => text.slice(start, end).isWellFormed())).toBe(true);
  }
});
