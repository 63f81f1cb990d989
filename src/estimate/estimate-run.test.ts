import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { shipped } from '../../test/session/trivial.ts';
import { readModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { loadTokenCounter, type TokenCounter } from '../models/tokens.ts';
import { expectedCounts } from '../planning/expected-counts.ts';
import { estimateRun } from './estimate-run.ts';
import { foreseeCalls } from './foresee-calls.ts';
import { gatherModelFacts } from './model-facts.ts';
import { createPromptMeter } from './prompt-meter.ts';
import type { Amounts, MeasuredStep, PromptMeter, Range } from './types.ts';

const memo = shipped('decision-memo');
const facts = {
  userRequest: 'Should the library open on Sundays?',
  iteration: 1,
  project: { name: 'Library', domain: '' },
  resources: {},
  overlay: { role: '', standards: [], style: '' },
};
const config = readModelsConfig(
  {},
  {
    models: {
      'compatible/small': {
        price: { input: 1, output: 5 },
        maxOutputTokens: 900,
        windowTokens: 6_000,
      },
      'compatible/plain': { price: { input: 2, output: 8, cachedInput: 0.5, cacheWrite: 3 } },
    },
  },
);

let counter: TokenCounter;
const meters = new Map<number, PromptMeter>();
beforeAll(async () => {
  counter = await loadTokenCounter();
});

/** Meters depend on the number of participants alone. */
function meterFor(lanes: number): PromptMeter {
  const known = meters.get(lanes);
  if (known) return known;
  const calls = foreseeCalls({ process: memo, models: Array.from({ length: lanes }, () => 'x/y') });
  const meter = createPromptMeter(memo, { facts }, calls, counter);
  meters.set(lanes, meter);
  return meter;
}

async function estimate(models: readonly string[], measured: readonly MeasuredStep[] = []) {
  const calls = foreseeCalls({ process: memo, models });
  const history = { steps: measured, models: [] };
  const known = await gatherModelFacts(models, config, history, counter);
  return estimateRun({
    process: memo.key,
    calls,
    meter: meterFor(models.length),
    models: known,
    measured,
    repetitionsOf: () => ({ most: 2, elsewhere: 0 }),
  });
}

const PRICED = ['compatible/small', 'compatible/plain', 'ollama/llama', 'offline/builder'];
const someModels = fc.array(fc.constantFrom(...PRICED), { minLength: 1, maxLength: 4 });
const someSteps = fc.array(
  fc.record({
    stage: fc.constantFrom(...memo.stages.map((stage) => stage.key)),
    step: fc.constantFrom(...memo.stages.flatMap((stage) => stage.steps.map((step) => step.key))),
    model: fc.constantFrom(...PRICED, 'compatible/other'),
    documents: fc.integer({ min: 1, max: 9 }),
    outputTokens: fc.integer({ min: 1, max: 30_000 }),
    contentTokens: fc.integer({ min: 1, max: 30_000 }),
  }),
  { maxLength: 6 },
);

const rangesOf = (one: Amounts): Range[] =>
  [one.calls, one.inputTokens, one.outputTokens, one.costUsd].filter((range) => range !== null);

describe('an estimate', () => {
  test('has low figures below the middle and high ones above, in every part', async () => {
    await fc.assert(
      fc.asyncProperty(someModels, someSteps, async (models, measured) => {
        const whole = await estimate(models, measured);
        const { continuation, repetition, compression } = whole.additions;
        const amounts = [whole, ...whole.stages, ...whole.models, ...whole.parts];
        const ranges = [
          ...amounts.flatMap(rangesOf),
          ...[continuation, repetition].flatMap((one) => rangesOf({ ...one, costUsd: null })),
          compression.calls,
          compression.removedTokens,
        ];
        for (const { low, middle, high } of ranges) {
          expect(low).toBeLessThanOrEqual(middle);
          expect(middle).toBeLessThanOrEqual(high);
        }
      }),
    );
  });

  test('counts the calls that the planners will make', async () => {
    await fc.assert(
      fc.asyncProperty(someModels, async (models) => {
        const whole = await estimate(models);
        const planned = expectedCounts(memo, models.length);
        const further = whole.additions.continuation.calls;
        expect(whole.documents).toBe(planned.calls);
        expect(whole.calls.low - further.low).toBe(planned.calls);
        expect(whole.calls.middle - further.middle).toBe(planned.calls);
      }),
    );
  });

  test('never falls when a participant is added', async () => {
    await fc.assert(
      fc.asyncProperty(
        someModels,
        someSteps,
        fc.constantFrom(...PRICED),
        async (models, measured, another) => {
          const before = rangesOf(await estimate(models, measured));
          const after = rangesOf(await estimate([...models, another], measured));
          for (const [at, range] of before.entries()) {
            expect(after[at]!.low).toBeGreaterThanOrEqual(range.low);
            expect(after[at]!.middle).toBeGreaterThanOrEqual(range.middle);
            expect(after[at]!.high).toBeGreaterThanOrEqual(range.high);
          }
        },
      ),
    );
  });

  test('has parts that add up to the whole', async () => {
    const whole = await estimate(['compatible/small', 'compatible/plain', 'compatible/plain']);
    for (const list of [whole.stages, whole.models, whole.parts]) {
      const tokens = list.reduce((sum, part) => sum + part.inputTokens.middle, 0);
      expect(Math.abs(tokens - whole.inputTokens.middle)).toBeLessThan(list.length);
      const cost = list.reduce((sum, part) => sum + part.costUsd!.high, 0);
      expect(cost).toBeCloseTo(whole.costUsd!.high, 4);
    }
  });

  test('says which price is unknown and counts the tokens all the same', async () => {
    const whole = await estimate(['compatible/plain', 'compatible/unheard-of']);
    expect(whole.costUsd).toBeNull();
    expect(whole.unpriced).toEqual(['compatible/unheard-of']);
    const [known, unknown] = whole.models;
    expect(known!.costUsd!.middle).toBeGreaterThan(0);
    expect(unknown!.costUsd).toBeNull();
    expect(unknown!.inputTokens.low).toBeGreaterThan(1_000);
    expect(unknown!.outputTokens.low).toBeGreaterThan(1_000);
  });

  test('costs nothing on models of the own machine', async () => {
    const whole = await estimate(['ollama/llama', 'offline/builder']);
    expect(whole.costUsd).toEqual({ low: 0, middle: 0, high: 0 });
    expect(whole.unpriced).toEqual([]);
  });

  test('tells what short answers and a small window add', async () => {
    const { additions } = await estimate(['compatible/small', 'compatible/small']);
    expect(additions.continuation.calls.middle).toBeGreaterThan(5);
    expect(additions.compression.removedTokens.high).toBeGreaterThan(0);
    expect(additions.compression.embedding).toBeNull();
  });

  test('tells what a provider takes to embed the texts of prompts that are too long', async () => {
    const models = ['compatible/small', 'offline/builder'];
    const calls = foreseeCalls({ process: memo, models });
    const embedding = { model: 'lab/embed', price: await findPrice('compatible/plain', config) };
    const input = {
      process: memo.key,
      calls,
      meter: meterFor(models.length),
      models: await gatherModelFacts(models, config, { steps: [], models: [] }, counter),
      measured: [],
      repetitionsOf: () => ({ most: 2, elsewhere: 0 }),
    };
    const without = estimateRun(input);
    const whole = estimateRun({
      ...input,
      embeddings: new Map([['compatible/small', embedding]]),
    });
    const { tokens, costUsd, model } = whole.additions.compression.embedding!;
    expect(model).toBe('lab/embed');
    expect(tokens.high).toBeGreaterThan(0);
    // A document is embedded once, however many prompts read it.
    const written = sumTokens(calls, meterFor(models.length));
    expect(tokens.middle).toBeLessThanOrEqual(written);
    expect(costUsd!.high).toBeCloseTo((tokens.high * 2) / 1e6, 5);
    // It is part of what the run is said to take, in money and in tokens.
    expect(whole.inputTokens.high - without.inputTokens.high).toBe(Math.round(tokens.high));
    expect(whole.costUsd!.middle - without.costUsd!.middle).toBeCloseTo(costUsd!.middle, 9);
  });
});

const sumTokens = (calls: ReturnType<typeof foreseeCalls>, meter: PromptMeter): number => {
  const inputs = calls.flatMap((call) => meter.measurePrompt(call).inputs);
  const sizes = new Map(inputs.map(({ from, tokens }) => [from ?? `given ${tokens}`, tokens]));
  return [...sizes.values()].reduce((sum, one) => sum + one, 0);
};

describe('what finished runs have measured', () => {
  const stage = memo.stages[0]!;
  const step = stage.steps[0]!;
  const measure = (model: string, outputTokens: number, contentTokens = outputTokens) => ({
    stage: stage.key,
    step: step.key,
    model,
    documents: 3,
    outputTokens,
    contentTokens,
  });
  const firstStage = async (models: string[], measured: MeasuredStep[]) =>
    (await estimate(models, measured)).stages[0]!.outputTokens;

  test('replaces the expected size for the same model', async () => {
    const one = await firstStage(['compatible/plain'], [measure('compatible/plain', 7_777)]);
    expect(one.middle).toBe(7_777);
  });

  test('guides the expectation for another model, in a wider range', async () => {
    const [own, other] = await Promise.all([
      firstStage(['compatible/plain'], [measure('compatible/plain', 7_777)]),
      firstStage(['compatible/plain'], [measure('compatible/other', 7_777)]),
    ]);
    expect(other.middle / own.middle).toBeGreaterThan(0.9);
    expect(other.middle / own.middle).toBeLessThan(1.3);
    expect(other.high - other.low).toBeGreaterThan(own.high - own.low);
  });

  test('of the offline author says nothing about language models', async () => {
    const learned = await firstStage(['compatible/plain'], [measure('offline/builder', 90_000)]);
    expect(learned).toEqual(await firstStage(['compatible/plain'], []));
  });

  test('makes the prompts that read the document longer', async () => {
    const input = async (measured: MeasuredStep[]): Promise<number> =>
      (await estimate(['compatible/plain'], measured)).inputTokens.middle;
    const long = measure('compatible/plain', 1, 20_000);
    expect(await input([long])).toBeGreaterThan((await input([])) + 10_000);
  });
});
