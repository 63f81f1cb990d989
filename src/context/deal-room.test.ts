import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseDiverse, dealRoom } from './deal-room.ts';
import { type Embedded, likeness, normalise } from './embedder.ts';

test('what is unlike what was taken comes before its repetition', () => {
  const [east, north] = [new Float32Array([1, 0]), new Float32Array([0, 1])];
  const chunks = [east, east, north].map((vector) => ({ text: '', vector }));
  expect([...chooseDiverse(chunks, [1, 0.95, 0.7])]).toEqual([0, 2, 1]);
  expect([...chooseDiverse(chunks, [1, 0.95, 0.1])]).toEqual([0, 1, 2]);
});

test('room goes to what is wanted, never beyond it, and not twice to the same', () => {
  const [east, north, up] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ].map((numbers) => ({ text: '', vector: new Float32Array(numbers) }));
  const chunks = [east!, east!, north!, up!];
  const sizes = [100, 100, 100, 100];
  const { order, chosen } = dealRoom(chunks, [0.9, 0.8, 0.7, 0.1], sizes, 250);
  expect([...chosen]).toEqual([0, 2]);
  expect(order).toEqual([0, 2, 1, 3]);
  expect(dealRoom(chunks, [0.9, 0.8, 0.7, 0.1], sizes, 90).chosen.size).toBe(0);
});

test('a chunk is compared only when it leads, and the order is that of comparing all', () => {
  const vector = fc
    .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 })
    .map((numbers) => normalise(new Float32Array(numbers)));
  const chunk = fc.record({ vector, score: fc.float({ min: 0, max: 1, noNaN: true }) });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 24 }), (all) => {
      const scores = all.map(({ score }) => score);
      const chunks = all.map((one) => ({ text: '', vector: one.vector }));
      expect([...chooseDiverse(chunks, scores)]).toEqual(compareAll(chunks, scores));
    }),
  );
});

/** Maximal marginal relevance by its definition. */
function compareAll(chunks: readonly Embedded[], scores: readonly number[]): number[] {
  const top = Math.max(...scores, Number.MIN_VALUE);
  const order: number[] = [];
  const marginal = (at: number): number => {
    const near = order.map((other) => likeness(chunks[at]!.vector, chunks[other]!.vector));
    return (0.75 * scores[at]!) / top - (1 - 0.75) * Math.max(0, ...near);
  };
  while (order.length < chunks.length) {
    const left = [...chunks.keys()].filter((at) => !order.includes(at));
    order.push(left.reduce((best, at) => (marginal(at) > marginal(best) ? at : best)));
  }
  return order;
}
