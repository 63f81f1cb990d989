import { describe, expect, test } from 'vitest';
import type { ModelPrice } from '../models/prices.ts';
import { loadOf } from './call-load.ts';
import type { ModelFacts, Range } from './types.ts';

const same = (value: number): Range => ({ low: value, middle: value, high: value });
const rates = { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 };
const price: ModelPrice = { source: 'configuration', rates, steps: [] };
const facts: ModelFacts = {
  price,
  window: { windowTokens: null, maxOutputTokens: null },
  tokenFactor: same(1),
  isLearned: false,
  repairRate: null,
  cachedShare: null,
};
const parts = { frameTokens: 1_000, schemaTokens: 300, inputs: [{ from: 'x', tokens: 4_000 }] };
const prompt = { parts, ratios: [{ low: 0.5, middle: 1, high: 2 }] };
const answer = { tokens: { low: 500, middle: 1_000, high: 2_000 }, ratio: same(1) };

describe('one document', () => {
  test('takes one call that reads its prompt and writes its answer', () => {
    const load = loadOf(prompt, answer, facts, 'middle');
    expect(load).toMatchObject({ calls: 1, inputTokens: 5_000, outputTokens: 1_000 });
    expect(load.costMicros).toBe(5_000 * 2 + 1_000 * 10);
  });

  test('is asked for again now and then at worst, with the answer to correct', () => {
    const { repetition, calls } = loadOf(prompt, answer, facts, 'high');
    expect(calls).toBeCloseTo(1.15);
    expect(repetition.inputTokens).toBeCloseTo(0.15 * (1_300 + 8_000 + 2_000));
  });

  test('is asked for again as often as finished runs have shown', () => {
    const load = loadOf(prompt, answer, { ...facts, repairRate: 0.5 }, 'middle');
    expect(load).toMatchObject({ calls: 1.5, outputTokens: 1_500 });
    expect(load.inputTokens).toBe(5_000 + 0.5 * 6_000);
  });

  test('takes more turns where the model does not write it at once', () => {
    const window = { windowTokens: null, maxOutputTokens: 400 };
    const load = loadOf(prompt, answer, { ...facts, window }, 'middle');
    expect(load).toMatchObject({ calls: 3, outputTokens: 1_000 });
    expect(load.inputTokens).toBe(5_000 + 5_500 + 6_000);
    expect(load.continuation).toMatchObject({ calls: 2, inputTokens: 11_500, outputTokens: 600 });
    expect(load.costMicros).toBe(16_500 * 2 + 1_000 * 10);
  });

  test('has its prompt cut down to the window, and says by how much', () => {
    const window = { windowTokens: 4_000, maxOutputTokens: 1_000 };
    const load = loadOf(prompt, answer, { ...facts, window }, 'middle');
    // As a call is fitted: without the answer's room, and without a margin for counts that differ.
    expect(load).toMatchObject({ inputTokens: 2_920, removedTokens: 2_080 });
  });

  test('costs less at best, where providers reuse prefixes, and more where they only write', () => {
    const [low, high] = (['low', 'high'] as const).map((one) => loadOf(prompt, answer, facts, one));
    expect(low!.costMicros).toBe(2_400 * 0.2 + 600 * 2 + 500 * 10);
    const perCall = (input: number): number => input * 2.5 + 2_000 * 10;
    expect(high!.costMicros).toBeCloseTo(perCall(9_300) + 0.15 * perCall(11_300));
  });

  test('has no cost where the price is unknown, and its tokens all the same', () => {
    const load = loadOf(prompt, answer, { ...facts, price: null }, 'middle');
    expect(load).toMatchObject({ costMicros: null, inputTokens: 5_000, outputTokens: 1_000 });
  });
});
