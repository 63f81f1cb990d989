import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readModelsConfig } from './config.ts';
import { costMicros, findPrice, type ModelPrice } from './prices.ts';
import { findWindow } from './windows.ts';

const config = readModelsConfig(
  {},
  {
    models: {
      'compatible/own': { price: { input: 0.1, output: 0.2 }, windowTokens: 5000 },
      'openai/gpt-5': { maxOutputTokens: 9000 },
    },
  },
);
const usage = (inputTokens: number, outputTokens = 0, cachedInputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
  cacheWriteTokens: 0,
  estimated: false,
});

describe('findPrice', () => {
  test('knows hosted models, with cached input cheaper', async () => {
    const price = (await findPrice('openai/gpt-5', config))!;
    expect(price.source).toBe('catalogue');
    expect(price.rates.input).toBeGreaterThan(price.rates.cachedInput);
    expect(await findPrice('openrouter/anthropic/claude-sonnet-4.5', config)).not.toBeNull();
  });

  test('the configuration wins, local models cost nothing, unknown is null', async () => {
    expect(await findPrice('compatible/own', config)).toMatchObject({
      source: 'configuration',
      rates: { input: 0.1, cachedInput: 0.1, output: 0.2 },
    });
    expect(costMicros(usage(1e6, 1e6), (await findPrice('ollama/x', config))!)).toBe(0);
    expect(await findPrice('compatible/other', config)).toBeNull();
    expect(await findPrice('openai/no-such-model', config)).toBeNull();
  });

  test('a price of a folder counts where it is higher, and makes no unknown price known', async () => {
    const free = { input: 0, output: 0 };
    const dear = { input: 1e6, output: 0 };
    const withFolder = (price: typeof free, isTrusted: boolean) => {
      const names = ['compatible/own', 'compatible/other', 'google/gemini-2.5-pro', 'ollama/x'];
      const prices = Object.fromEntries(names.map((name) => [name, price]));
      return { ...config, folderPrices: { prices, isTrusted } };
    };
    for (const isTrusted of [true, false]) {
      const cheap = withFolder(free, isTrusted);
      for (const model of ['compatible/own', 'google/gemini-2.5-pro', 'ollama/x']) {
        const [own, folders] = [await findPrice(model, config), await findPrice(model, cheap)];
        expect({ ...folders, source: own?.source }).toEqual(own);
      }
      const raised = (await findPrice('google/gemini-2.5-pro', withFolder(dear, isTrusted)))!;
      expect([raised.rates.input, raised.steps[0]?.rates.input]).toEqual([1e6, 1e6]);
      expect(raised.rates.output).toBeGreaterThan(0);
    }
    expect(await findPrice('compatible/other', withFolder(dear, false))).toBeNull();
    expect((await findPrice('compatible/other', withFolder(dear, true)))?.rates.input).toBe(1e6);
  });

  test('a long prompt is charged at the higher step, as a whole', async () => {
    const price = (await findPrice('google/gemini-2.5-pro', config))!;
    const below = costMicros(usage(200_000), price);
    const above = costMicros(usage(200_001), price);
    expect(above / below).toBeGreaterThan(1.9);
  });
});

describe('costMicros', () => {
  const rates = { input: 1.25, cachedInput: 0.125, cacheWrite: 1.25, output: 10 };
  const price: ModelPrice = { source: 'catalogue', rates, steps: [] };

  test('adds fresh, cached and written tokens, rounded up once', () => {
    expect(costMicros(usage(1000, 100, 800), price)).toBe(250 + 100 + 1000);
    expect(costMicros(usage(1), price)).toBe(2);
    expect(costMicros(usage(0), price)).toBe(0);
  });

  test('is exact where floating point is not, and never below the exact sum', () => {
    const tenth = { input: 0.1, cachedInput: 0.1, cacheWrite: 0.1, output: 0.2 };
    const odd: ModelPrice = { source: 'configuration', rates: tenth, steps: [] };
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(10_000_000), (input, output) => {
        const exactTenths = BigInt(input) + 2n * BigInt(output);
        expect(costMicros(usage(input, output), odd)).toBe(Number((exactTenths + 9n) / 10n));
      }),
    );
  });
});

describe('findWindow', () => {
  test('takes the configuration first and the smaller of two catalogues', async () => {
    expect(await findWindow('compatible/own', config)).toMatchObject({ windowTokens: 5000 });
    expect(await findWindow('openai/gpt-5', config)).toEqual({
      windowTokens: 400_000,
      maxOutputTokens: 9000,
    });
    const claude = await findWindow('anthropic/claude-sonnet-4-5', config);
    expect(claude.windowTokens).toBe(200_000);
    expect((await findWindow('ollama/x', config)).windowTokens).toBeNull();
  });
});
