import { APICallError, JSONParseError } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { classifyError } from './classify-error.ts';
import { secretsHider } from './hide-secrets.ts';

const context = { provider: 'openai', model: 'm' };
const hide = secretsHider({ apiKey: 'sk-secret' });

function classify(statusCode: number | undefined, over: Record<string, unknown> = {}) {
  const error = new APICallError({
    message: 'it failed',
    url: 'http://x',
    requestBodyValues: { prompt: 'private' },
    ...(statusCode === undefined ? {} : { statusCode }),
    ...over,
  });
  return classifyError(error, context, hide);
}

describe('classifyError', () => {
  test.each([
    [401, 'provider_auth', false],
    [403, 'provider_auth', false],
    [402, 'provider_quota_exhausted', false],
    [404, 'model_unknown', false],
    [400, 'provider_request_refused', false],
    [413, 'provider_context_exceeded', false],
    [408, 'provider_timeout', true],
    [429, 'provider_rate_limited', true],
    [500, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [529, 'provider_unavailable', true],
    [200, 'provider_bad_response', true],
    [302, 'provider_bad_response', true],
  ])('status %i is %s', (status, code, retryable) => {
    expect(classify(status)).toMatchObject({ code, retryable, details: { status } });
  });

  test('an exhausted account is no rate limit', () => {
    const responseBody = '{"error":{"code":"insufficient_quota"}}';
    expect(classify(429, { responseBody }).code).toBe('provider_quota_exhausted');
    const message = 'Your credit balance is too low';
    expect(classify(400, { message }).code).toBe('provider_quota_exhausted');
  });

  test('a prompt that is too long is told from other refusals', () => {
    const message = "This model's maximum context length is 8192 tokens";
    expect(classify(400, { message }).code).toBe('provider_context_exceeded');
    const prompt = 'prompt is too long: 210000 tokens > 200000 maximum';
    expect(classify(400, { message: prompt }).code).toBe('provider_context_exceeded');
  });

  test('a lost connection is found behind any number of causes', () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(classify(200, { cause: new Error('x', { cause: reset }) }).code).toBe(
      'provider_unreachable',
    );
    const dns = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' });
    expect(classifyError(new TypeError('fetch failed', { cause: dns }), context, hide).code).toBe(
      'provider_unreachable',
    );
  });

  test('faults inside a stream are known by their words', () => {
    const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
    expect(classifyError(overloaded, context, hide).code).toBe('provider_unavailable');
    expect(classifyError(new Error('Rate limit reached'), context, hide).code).toBe(
      'provider_rate_limited',
    );
  });

  test.each([
    [{ 'retry-after': '7' }, '', 7000],
    [{ 'retry-after': '0.5' }, '', 500],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, '', 250],
    [{}, '{"error":{"details":[{"retryDelay": "13.5s"}]}}', 13_500],
    [{ 'retry-after': 'soon' }, '', undefined],
  ])('reads how long to wait from %j %s', (responseHeaders, responseBody, expected) => {
    const { details } = classify(429, { responseHeaders, responseBody });
    expect(details['retryAfterMs']).toBe(expected);
  });

  test('reads a date as the time left until then', () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { details } = classify(503, { responseHeaders: { 'retry-after': date } });
    const wait = details['retryAfterMs'];
    expect(wait).toBeGreaterThan(55_000);
    expect(wait).toBeLessThanOrEqual(60_000);
  });

  test('a key that the cut at 500 characters would split is hidden whole', () => {
    for (let before = 480; before <= 500; before++) {
      expect(classify(400, { message: `${'x'.repeat(before)}sk-secret` }).message).not.toMatch(
        /x[sk]/,
      );
    }
  });

  test('what is no JSON is told without the excerpt of the engine', () => {
    const thrown = new SyntaxError(`Unexpected token 'k', "k-secret" is not valid JSON`);
    const text = 'sk-secret';
    for (const error of [thrown, new JSONParseError({ text, cause: thrown })]) {
      expect(classifyError(error, context, hide).message).not.toContain('secret');
    }
  });

  test('neither key nor prompt get into the error', () => {
    const error = classify(401, { message: 'Incorrect API key provided: sk-secret.' });
    expect(error.message).toContain('[key]');
    expect(JSON.stringify(error) + String(error.stack)).not.toMatch(/sk-secret|private/);
    expect(error.cause).toBeUndefined();
  });
});
