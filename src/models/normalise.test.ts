import { expect, test } from 'vitest';
import { normaliseFinish } from './normalise.ts';

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
