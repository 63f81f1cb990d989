import { describe, expect, test } from 'vitest';
import type { ModelPrice } from '../models/prices.ts';
import { loadOf as load } from './call-load.ts';
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

const again = { most: 2, elsewhere: 0, others: [] };
type Rest = [Parameters<typeof load>[3], Parameters<typeof load>[4]?];
const loadOf = (
  of: typeof prompt,
  size: typeof answer,
  model: ModelFacts,
  ...[scenario, repetitions = again]: Rest
) => load(of, size, model, scenario, repetitions);

describe('one document', () => {
  test('takes one call that reads its prompt and writes its answer', () => {
    const one = loadOf(prompt, answer, facts, 'middle');
    expect(one).toMatchObject({ calls: 1, inputTokens: 5_000, outputTokens: 1_000 });
    expect(one.costMicros).toBe(5_000 * 2 + 1_000 * 10);
  });

  test('is asked for again as often as the rules allow at most, with the answer to correct', () => {
    const { repetition, calls, outputTokens } = loadOf(prompt, answer, facts, 'high');
    expect(calls).toBe(3);
    expect(outputTokens).toBe(3 * 2_000);
    expect(repetition.inputTokens).toBe(2 * (1_300 + 8_000 + 2_000 + 4_000));
  });

  test('is asked for again in as many turns as it takes, where the model writes less at once', () => {
    const window = { windowTokens: null, maxOutputTokens: 1_000 };
    const { repetition, continuation } = loadOf(prompt, answer, { ...facts, window }, 'high');
    expect(continuation.calls).toBe(1);
    expect(repetition).toMatchObject({ calls: 4, outputTokens: 4_000 });
    const input = 1_300 + 8_000 + 2_000 + 4_000;
    expect(repetition.inputTokens).toBe(2 * (input + input + 1_000 + 100));
  });

  test('costs at most what the dearest participant takes that may be asked in its place', () => {
    const dear = {
      ...facts,
      price: { ...price, rates: { ...rates, cacheWrite: 25, output: 100 } },
    };
    const own = loadOf(prompt, answer, facts, 'high').costMicros!;
    const away = { most: 2, elsewhere: 1, others: [facts, dear] };
    const cost = loadOf(prompt, answer, facts, 'high', away).costMicros!;
    const perCall = 15_300 * 2.5 + 2_000 * 10;
    expect(cost - own).toBe(9 * perCall);
    expect(loadOf(prompt, answer, facts, 'middle', away).costMicros).toBe(20_000);
  });

  test('is asked for again as often as finished runs have shown', () => {
    const one = loadOf(prompt, answer, { ...facts, repairRate: 0.5 }, 'middle');
    expect(one).toMatchObject({ calls: 1.5, outputTokens: 1_500 });
    expect(one.inputTokens).toBe(5_000 + 0.5 * 6_000);
  });

  test('takes more turns where the model does not write it at once', () => {
    const window = { windowTokens: null, maxOutputTokens: 400 };
    const one = loadOf(prompt, answer, { ...facts, window }, 'middle');
    expect(one).toMatchObject({ calls: 3, outputTokens: 1_000 });
    expect(one.inputTokens).toBe(5_000 + 5_500 + 6_000);
    expect(one.continuation).toMatchObject({ calls: 2, inputTokens: 11_500, outputTokens: 600 });
    expect(one.costMicros).toBe(16_500 * 2 + 1_000 * 10);
  });

  test('has its prompt cut down to the window, and says by how much', () => {
    const window = { windowTokens: 4_000, maxOutputTokens: 1_000 };
    const one = loadOf(prompt, answer, { ...facts, window }, 'middle');
    // As a call is fitted: without the answer's room, and without a margin for counts that differ.
    expect(one).toMatchObject({ inputTokens: 2_920, removedTokens: 2_080 });
  });

  test('costs less at best, where providers reuse prefixes, and more where they only write', () => {
    const [low, high] = (['low', 'high'] as const).map((one) => loadOf(prompt, answer, facts, one));
    expect(low!.costMicros).toBe(2_400 * 0.2 + 600 * 2 + 500 * 10);
    const perCall = (input: number): number => input * 2.5 + 2_000 * 10;
    expect(high!.costMicros).toBe(perCall(9_300) + 2 * perCall(15_300));
  });

  test('has no cost where the price is unknown, and its tokens all the same', () => {
    const one = loadOf(prompt, answer, { ...facts, price: null }, 'middle');
    expect(one).toMatchObject({ costMicros: null, inputTokens: 5_000, outputTokens: 1_000 });
  });
});
