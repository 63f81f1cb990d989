import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, chooseLevels, weighSource } from './attention.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const anyCandidates = fc
  .array(
    fc.record({
      attention: fc.record({ relevance: share, use: share, recency: share, objective: share }),
      full: fc.integer({ min: 20, max: 2000 }),
    }),
    { maxLength: 30 },
  )
  .map((all) =>
    all.map(
      ({ attention, full }, at): Candidate => ({
        id: `S${at + 1}`,
        attention,
        sizes: [full, Math.min(full, 100)],
      }),
    ),
  );
const even = { use: 0, recency: 0, objective: 0 };

describe('the attention of a prompt', () => {
  test('is dealt within its room, each source once, and the same for the same seed', () => {
    fc.assert(
      fc.property(anyCandidates, fc.nat(5000), fc.integer(), (candidates, room, seed) => {
        const levels = chooseLevels(candidates, room, seed);
        expect([...levels.keys()]).toEqual(candidates.map(({ id }) => id));
        const used = candidates.map(({ id, sizes }) => {
          const level = levels.get(id);
          return level === 0 ? sizes[0] : level === 1 ? sizes[1] : 0;
        });
        expect(used.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(room);
        expect(chooseLevels(candidates, room, seed)).toEqual(levels);
        // Nothing that fits is left out.
        const left = room - used.reduce((sum, size) => sum + size, 0);
        for (const { id, sizes } of candidates) {
          if (levels.get(id) === null) expect(sizes[1]).toBeGreaterThan(left);
        }
      }),
    );
  });

  test('measures few of thousands of sources: it ends where the room is full', () => {
    let measured = 0;
    const candidates = Array.from({ length: 5_000 }, (_, at) => ({
      id: `S${at + 1}`,
      attention: { ...even, relevance: 1 - at / 5_000 },
      get sizes(): readonly [number, number] {
        measured += 1;
        return [10_000, 600];
      },
    }));
    const levels = chooseLevels(candidates, 80_000, 1);
    expect([...levels.values()].filter((level) => level !== null).length).toBeGreaterThan(7);
    expect(measured).toBeLessThan(200);
  });

  test('grows with relevance, use, recency and the objective alike', () => {
    for (const name of ['relevance', 'use', 'recency', 'objective'] as const) {
      const none = { relevance: 0, use: 0, recency: 0, objective: 0 };
      expect(weighSource({ ...none, [name]: 1 })).toBeGreaterThan(weighSource(none));
    }
  });

  test('goes mostly to the most relevant, and not always to the same', () => {
    const candidates = Array.from({ length: 20 }, (_, at) => ({
      id: `S${at + 1}`,
      attention: { ...even, relevance: 1 - at / 20 },
      sizes: [100, 50] as const,
    }));
    const chosen = Array.from({ length: 400 }, (_, seed) =>
      [...chooseLevels(candidates, 300, seed)]
        .filter(([, level]) => level !== null)
        .map(([id]) => id),
    );
    const share = (id: string) => chosen.filter((ids) => ids.includes(id)).length / 400;
    expect(share('S1')).toBeGreaterThan(1.3 * share('S8'));
    expect(share('S1')).toBeLessThan(1);
    expect(share('S20')).toBeLessThan(0.05);
    expect(new Set(chosen.map((ids) => ids.toSorted().join())).size).toBeGreaterThan(50);
  });
});
