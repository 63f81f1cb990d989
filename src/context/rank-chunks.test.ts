import { expect, test } from 'vitest';
import { lexicalEmbedder } from './lexical-embedder.ts';
import { scoreChunks } from './rank-chunks.ts';
import { WordIndex } from './word-index.ts';

const wordsOf = (chunks: readonly { readonly text: string }[]) =>
  new WordIndex(chunks.map(({ text }) => text));

const embed = async (texts: readonly string[]) => {
  const vectors = await lexicalEmbedder.embed(texts);
  return texts.map((text, at) => ({ text, vector: vectors[at]! }));
};

const COMMON = 'Orders are taken at the counter and written into the order book by the staff.';
const texts = [
  COMMON,
  'Orders are written into the book at the counter by staff who take them.',
  'The insurer Nordhelm excludes bicycles with a motor.',
  'Staff take orders at the counter and write orders into the book.',
  'However, one adviser objects: the book is the wrong place for orders.',
];

test('a question about something singular finds it among the common', async () => {
  const chunks = await embed(texts);
  const questions = await embed(['Which insurer excludes a bicycle?', 'How are orders taken?']);
  const scores = scoreChunks(wordsOf(chunks), chunks, questions);
  expect(scores.indexOf(Math.max(...scores))).toBe(2);
});

test('without a question the outlier is wanted more than what all say', async () => {
  const chunks = await embed(texts);
  const scores = scoreChunks(wordsOf(chunks), chunks, []);
  expect(scores[2]).toBeGreaterThan(scores[0]!);
});
