import { expect, test } from 'vitest';
import { normaliseFinish, normaliseUsage } from './normalise.ts';

test.each([
  ['stop', 'stop', 'stop'],
  ['length', 'MAX_TOKENS', 'length'],
  ['content-filter', 'SAFETY', 'content_filter'],
  ['other', 'model_length', 'length'],
  ['other', 'content_truncated', 'length'],
  ['other', 'max_new_tokens', 'length'],
  ['other', 'eos_token', 'stop'],
  ['other', 'never seen before', 'interrupted'],
  ['other', undefined, 'interrupted'],
  ['tool-calls', 'tool_calls', 'interrupted'],
  ['interrupted', undefined, 'interrupted'],
  ['error', 'error', 'error'],
] as const)('%s (%s) is %s', (unified, raw, expected) => {
  expect(normaliseFinish({ unified, raw })).toBe(expected);
});

test('no reason at all is an interruption', () => {
  expect(normaliseFinish(undefined)).toBe('interrupted');
});

test('counts that are not there are not invented', () => {
  const none = {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  };
  const output = { total: 5, text: 5, reasoning: undefined };
  expect(normaliseUsage(undefined)).toBeNull();
  expect(normaliseUsage({ inputTokens: none, outputTokens: output })).toBeNull();
  const input = { total: 100, noCache: 10, cacheRead: 70, cacheWrite: 20 };
  expect(normaliseUsage({ inputTokens: input, outputTokens: output })).toEqual({
    inputTokens: 100,
    outputTokens: 5,
    cachedInputTokens: 70,
    cacheWriteTokens: 20,
    estimated: false,
  });
});
