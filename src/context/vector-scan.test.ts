import fc from 'fast-check';
import { expect, test } from 'vitest';
import { likeness, normalise } from './embedder.ts';
import { VectorScan } from './vector-scan.ts';

const numbers = (length: number) =>
  fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length })
    .map((all) => normalise(Float32Array.from(all)));

/** What the scan must give: all vectors compared in full. */
function compareAll(vectors: readonly Float32Array[], question: Float32Array, most: number) {
  return vectors
    .map((vector, at) => ({ at, likeness: likeness(vector, question) }))
    .filter((one) => one.likeness > 0)
    .toSorted((a, b) => b.likeness - a.likeness || a.at - b.at)
    .slice(0, most);
}

test('the nearest are those of a comparison in full, in the same order, whatever the dimensions', () => {
  const cases = fc.integer({ min: 1, max: 70 }).chain((dimensions) =>
    fc.record({
      vectors: fc.array(numbers(dimensions), { maxLength: 40 }),
      question: numbers(dimensions),
      most: fc.integer({ min: 1, max: 12 }),
    }),
  );
  const property = fc.property(cases, ({ vectors, question, most }) => {
    // Twins are ranked in their order.
    const all = [...vectors, ...vectors.slice(0, 3)];
    const scan = new VectorScan(all.map((vector) => ({ text: '', vector })));
    expect(scan.nearest(question, most)).toEqual(
      all.length === 0 ? [] : compareAll(all, question, most),
    );
  });
  fc.assert(property, { numRuns: 200 });
});

test('a vector that is missing is like nothing', () => {
  const one = normalise(Float32Array.of(1, 2, 3));
  const scan = new VectorScan([
    { text: '', vector: new Float32Array() },
    { text: '', vector: one },
  ]);
  expect(scan.nearest(one, 5).map(({ at }) => at)).toEqual([1]);
  expect(scan.nearest(Float32Array.of(1, 2), 5)).toEqual([]);
});
