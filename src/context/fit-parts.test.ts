import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitParts, type Part } from './fit-parts.ts';

const size = fc.integer({ min: 1, max: 5_000 });
const parts = fc
  .array(fc.record({ tokens: size, value: fc.double({ noNaN: true }), wanted: size }), {
    maxLength: 40,
  })
  .map((all) => all.map((part, index): Part => ({ id: String(index), ...part })));

test('the least valuable part goes first, and no further than is needed', async () => {
  const order: string[] = [];
  const shorten = (part: Part, target: number) => {
    order.push(`${part.id}:${target}`);
    return Promise.resolve(target);
  };
  const fitting = { total: 4_000, room: 3_600, shorten };
  const three = [
    { id: 'dear', tokens: 1_000, value: 0.9, wanted: 300 },
    { id: 'cheap', tokens: 1_000, value: 0.1, wanted: 0 },
    { id: 'equal', tokens: 1_000, value: 0.9, wanted: 200 },
  ];
  expect(await fitParts({ ...fitting, parts: three })).toMatchObject({ total: 3_500 });
  expect(order).toEqual(['cheap:500']);
  order.length = 0;
  await fitParts({ ...fitting, room: 1_500, parts: three });
  expect(order).toEqual(['cheap:0', 'dear:300', 'equal:200']);
});

test('any request fits in the end or has nothing left to shorten; the total never grows', async () => {
  const property = fc.asyncProperty(
    parts,
    fc.integer({ min: 0, max: 2_000 }),
    fc.integer({ min: 1, max: 20_000 }),
    fc.double({ min: 0, max: 3, noNaN: true }),
    async (all, fixed, room, faith) => {
      const before = fixed + all.reduce((sum, { tokens }) => sum + tokens, 0);
      const shorten = (_: Part, target: number) => Promise.resolve(Math.floor(target * faith));
      const { total, tried } = await fitParts({ parts: all, total: before, room, shorten });
      expect(total).toBeLessThanOrEqual(before);
      expect(total <= room || tried.length === all.length).toBe(true);
      expect(new Set(tried.map(({ id }) => id)).size).toBe(tried.length);
      for (const one of tried) expect(one.target).toBeLessThan(one.tokens);
      // What is wanted of the parts gives way before the request is refused.
      if (faith <= 1 && fixed <= room) expect(total).toBeLessThanOrEqual(room);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});
