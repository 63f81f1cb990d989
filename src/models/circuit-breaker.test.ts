import { describe, expect, test } from 'vitest';
import type { DialecticError } from '../errors/errors.ts';
import { createCircuitBreaker, describeOutage } from './circuit-breaker.ts';

function setUp() {
  const time = { ms: 0 };
  const limits = { failures: 3, coolMs: 100, maxCoolMs: 300 };
  const breaker = createCircuitBreaker('p', () => time.ms, limits);
  const waits = (): unknown => {
    try {
      breaker.enter();
      return undefined;
    } catch (error) {
      return (error as DialecticError).details['retryAfterMs'];
    }
  };
  const failTimes = (times: number): void => {
    for (let n = 0; n < times; n++) breaker.fail();
  };
  return { time, breaker, waits, failTimes };
}

describe('createCircuitBreaker', () => {
  test('opens after failures in a row, and any answer starts the count anew', () => {
    const { breaker, waits, failTimes } = setUp();
    failTimes(2);
    breaker.succeed();
    failTimes(2);
    expect(waits()).toBeUndefined();
    breaker.fail();
    expect(waits()).toBe(100);
  });

  test('says the same to all that it refuses, however often and for how long', () => {
    const { time, breaker, failTimes } = setUp();
    failTimes(3);
    for (const ms of [0, 7, 42]) {
      time.ms = ms;
      expect(() => breaker.enter()).toThrow(describeOutage('p'));
      breaker.fail();
    }
    expect(describeOutage('p')).not.toMatch(/\d/);
  });

  test('lets one trial through after the wait, and closes when it succeeds', () => {
    const { time, breaker, waits, failTimes } = setUp();
    failTimes(3);
    time.ms = 100;
    expect(waits()).toBeUndefined();
    expect(waits()).toBe(20);
    breaker.succeed();
    expect(waits()).toBeUndefined();
    expect(waits()).toBeUndefined();
  });

  test('each failed trial doubles the wait up to the most', () => {
    const { time, breaker, waits, failTimes } = setUp();
    failTimes(3);
    for (const wait of [200, 300, 300]) {
      time.ms += 1000;
      expect(waits()).toBeUndefined();
      breaker.fail();
      expect(waits()).toBe(wait);
    }
  });

  test('a trial that tells nothing leaves the next one free', () => {
    const { time, breaker, waits, failTimes } = setUp();
    failTimes(3);
    time.ms = 100;
    expect(waits()).toBeUndefined();
    breaker.leave();
    expect(waits()).toBeUndefined();
  });
});
