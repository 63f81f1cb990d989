import { expect, test } from 'vitest';
import { lexicalEmbedder } from './lexical-embedder.ts';
import { chooseDiverse, dealRoom, scoreChunks } from './rank-chunks.ts';

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

test('what is unlike what was taken comes before its repetition', () => {
  const [east, north] = [new Float32Array([1, 0]), new Float32Array([0, 1])];
  const chunks = [east, east, north].map((vector) => ({ text: '', vector }));
  expect([...chooseDiverse(chunks, [1, 0.95, 0.7])]).toEqual([0, 2, 1]);
  expect([...chooseDiverse(chunks, [1, 0.95, 0.1])]).toEqual([0, 1, 2]);
});

test('a question about something singular finds it among the common', async () => {
  const chunks = await embed(texts);
  const questions = await embed(['Which insurer excludes a bicycle?', 'How are orders taken?']);
  const scores = scoreChunks(chunks, questions);
  expect(scores.indexOf(Math.max(...scores))).toBe(2);
});

test('without a question the outlier is wanted more than what all say', async () => {
  const scores = scoreChunks(await embed(texts), []);
  expect(scores[2]).toBeGreaterThan(scores[0]!);
});

test('room goes to the texts whose parts are wanted, and never beyond it', () => {
  const one = { sizes: [100, 100, 100], scores: [0.9, 0.1, 0.8] };
  const other = { sizes: [100, 100], scores: [0.2, 0.15] };
  expect(dealRoom([one, other], 350)).toEqual([200, 100]);
  expect(dealRoom([one, other], 90)).toEqual([0, 0]);
});
