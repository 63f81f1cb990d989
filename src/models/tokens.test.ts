import { describe, expect, test } from 'vitest';
import { loadTokenCounter } from './tokens.ts';

const text = 'The plan names three risks; each has an owner, a date and a measure.\n'.repeat(20);

describe('token counting', () => {
  test('is exact for OpenAI and errs on the high side for the others', async () => {
    const counter = await loadTokenCounter();
    expect(counter.count('openai/gpt-5', 'hello world')).toBe(2);
    const exact = counter.count('openai/gpt-5', text);
    for (const model of ['anthropic/claude-x', 'google/gemini', 'ollama/llama3']) {
      expect(counter.count(model, text)).toBeGreaterThan(exact);
    }
    expect(counter.count('openrouter/anthropic/claude-x', text)).toBe(
      counter.count('anthropic/claude-x', text),
    );
  });

  test('counts text that looks like a control token instead of failing on it', async () => {
    const counter = await loadTokenCounter();
    expect(counter.count('openai/m', 'a <|endoftext|> b')).toBeGreaterThan(4);
  });

  test('counts every message of a request and its framing', async () => {
    const counter = await loadTokenCounter();
    const messages = [{ role: 'user' as const, content: 'hello world' }];
    expect(counter.countRequest({ model: 'openai/m', system: 'hello', messages })).toBe(11);
  });

  test('a long run of one character takes no quadratic time', async () => {
    const counter = await loadTokenCounter();
    const start = performance.now();
    for (const run of ['a', ' ', '-', '漢', '=\n']) counter.count('openai/m', run.repeat(300_000));
    expect(performance.now() - start).toBeLessThan(60_000);
  });

  test('the second count of the same text comes from the cache', async () => {
    const counter = await loadTokenCounter();
    const long = Array.from({ length: 60_000 }, (_, n) => `word${n}`).join(' ');
    const timed = (): number => {
      const start = performance.now();
      counter.count('openai/m', long);
      return performance.now() - start;
    };
    const first = timed();
    expect(Math.min(timed(), timed(), timed())).toBeLessThan(first);
  });
});
