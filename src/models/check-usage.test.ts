import { describe, expect, test } from 'vitest';
import { ceilingOf, checkUsage } from './check-usage.ts';

const request = {
  model: 'compatible/m',
  system: 'Answer.',
  messages: [{ role: 'user' as const, content: 'Grüße' }],
  maxOutputTokens: 500,
};
const window = { windowTokens: 8_000, maxOutputTokens: 2_000 };
const ceiling = { inputTokens: 4_000, outputTokens: 500 };

const usage = (input: object, total: number | undefined = 5) => ({
  inputTokens: {
    total: 100,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
    ...input,
  },
  outputTokens: { total, text: undefined, reasoning: undefined },
});

test('a request takes at most as many tokens as it has bytes, and no more than the window', () => {
  expect(ceilingOf(request, window)).toEqual({ inputTokens: 4_014, outputTokens: 500 });
  expect(ceilingOf(request, { ...window, windowTokens: 300 })).toEqual({
    inputTokens: 300,
    outputTokens: 300,
  });
  const { maxOutputTokens: _none, ...open } = request;
  expect(ceilingOf(open, window).outputTokens).toBe(2_000);
  const unknown = { windowTokens: null, maxOutputTokens: null };
  expect(ceilingOf(open, unknown).outputTokens).toBe(10_000_000);
});

describe('usage', () => {
  test('that can be true is taken', () => {
    expect(checkUsage(usage({ cacheRead: 70, cacheWrite: 30 }), ceiling)).toEqual({
      inputTokens: 100,
      outputTokens: 5,
      cachedInputTokens: 70,
      cacheWriteTokens: 30,
      estimated: false,
    });
    expect(checkUsage(usage({ total: 4_000 }, 500), ceiling)).not.toBeNull();
  });

  test('that is not there is not invented', () => {
    expect(checkUsage(undefined, ceiling)).toBeNull();
    expect(checkUsage(usage({ total: undefined }), ceiling)).toBeNull();
    const { outputTokens, ...rest } = usage({});
    const silent = { ...rest, outputTokens: { ...outputTokens, total: undefined } };
    expect(checkUsage(silent, ceiling)).toBeNull();
  });

  test.each([
    ['a negative input', usage({ total: -1_000_000 })],
    ['a fraction', usage({ total: 10.5 })],
    ['a fraction in the output', usage({}, 10.5)],
    ['a negative output', usage({}, -1)],
    ['more input than the request has bytes', usage({ total: 4_001 })],
    ['more output than was asked for', usage({}, 501)],
    ['10^18 tokens', usage({ total: 1e18 })],
    ['1e300 tokens', usage({ total: 1e300 })],
    ['no number', usage({ total: Number.NaN })],
    ['infinity', usage({}, Number.POSITIVE_INFINITY)],
    ['more cached than read', usage({ cacheRead: 101 })],
    ['a negative number of cached ones', usage({ cacheRead: -1 })],
    ['more cached and written than read', usage({ cacheRead: 60, cacheWrite: 41 })],
  ])('of %s is not believed', (_, reported) => {
    expect(checkUsage(reported, ceiling)).toBeNull();
  });
});
