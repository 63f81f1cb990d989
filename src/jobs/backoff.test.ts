import { expect, test } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { backoffMs } from './backoff.ts';
import { DEFAULT_JOB_SETTINGS } from './settings.ts';

const fault = new DialecticError('provider_unavailable', 'down');
const longest = (attempt: number, settings = DEFAULT_JOB_SETTINGS) =>
  backoffMs(attempt, fault, 1, settings);

test('the rest doubles from half a second up to a minute', () => {
  const rests = Array.from({ length: 10 }, (_, attempt) => longest(attempt));
  expect(rests).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(longest(1_000)).toBe(60_000);
});

test('chance takes up to half of it away, never more', () => {
  expect(backoffMs(3, fault, 0)).toBe(2_000);
  expect(backoffMs(3, fault, 0.5)).toBe(3_000);
  expect(backoffMs(3, fault, 1)).toBe(4_000);
  expect(backoffMs(99, fault, 0)).toBe(30_000);
});

test('the first rest and the cap can be set', () => {
  const settings = { ...DEFAULT_JOB_SETTINGS, firstRetryMs: 20, longestRetryMs: 100 };
  const rests = [0, 1, 2, 3, 4].map((attempt) => longest(attempt, settings));
  expect(rests).toEqual([20, 40, 80, 100, 100]);
});

test('what a provider asks for comes first, up to ten minutes', () => {
  const asks = (retryAfterMs: number) =>
    backoffMs(
      0,
      new DialecticError('provider_rate_limited', 'slow', { details: { retryAfterMs } }),
      0,
    );
  expect(asks(0)).toBe(0);
  expect(asks(90_000)).toBe(90_000);
  expect(asks(3_600_000)).toBe(600_000);
  expect(asks(-1)).toBe(250);
});
