import { countTokens } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { countAhead, createTokenCounter, loadTokenCounter } from './tokens.ts';

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

  test('long runs of one kind of character are merged in slices', () => {
    const { counter, counted } = recording();
    for (const run of ['a', ' ', '-', '漢']) counter.count('openai/m', run.repeat(300_000));
    expect(Math.max(...counted.map(({ length }) => length))).toBeLessThanOrEqual(256);
    expect(counted.join('').length).toBe(4 * 300_000);
  });

  test('the second count of the same text comes from the cache', () => {
    const { counter, counted } = recording();
    const first = counter.count('openai/m', text);
    const tokenised = counted.length;
    expect(tokenised).toBeGreaterThan(0);
    expect(counter.count('openai/m', text)).toBe(first);
    expect(counted.length).toBe(tokenised);
  });

  test('a paragraph that stood in another text is not tokenised again', () => {
    const { counter, counted } = recording();
    const [first, second, third] = ['a', 'b', 'c'].map((name) => `${name}: ${text}\n`);
    counter.count('openai/m', `${first}${second}`);
    counted.length = 0;
    expect(counter.count('openai/m', `${second}${third}${second}`)).toBeGreaterThan(0);
    expect(counted).toEqual([third]);
  });

  test('a text that was counted ahead is not tokenised when a request holds it', async () => {
    const counter = await loadTokenCounter();
    await countAhead(`Ahead: ${text}`);
    const before = counter.tokenised;
    expect(counter.count('openai/m', `Ahead: ${text}`)).toBeGreaterThan(200);
    expect(counter.tokenised).toBe(before);
  });

  test('the counts of paragraphs add up to that of the whole text', async () => {
    const counter = await loadTokenCounter();
    const around = text.slice(0, 300);
    const whole = (joined: string): number => countTokens(joined, { disallowedSpecial: new Set() });
    const ends = [
      'word',
      'word.',
      '```',
      '  ',
      '\t',
      '/',
      '\r',
      '12345',
      '漢字',
      '😀',
      "it's",
      '\u00a0',
    ];
    const breaks = ['\n\n', '\r\n\r\n', '\n\n\n', ' \n\n', '\n \n\n', '\n\n '];
    const beginnings = [
      'Next',
      ' next',
      '# Head',
      '/path',
      '//',
      '"quoted"',
      '1.',
      '漢',
      '😀',
      '\t-',
      '\u00a0x',
      '\u2028',
    ];
    for (const end of ends) {
      for (const gap of breaks) {
        for (const beginning of beginnings) {
          const joined = `${around}${end}${gap}${beginning} ${around}`;
          expect(counter.countPlain(joined), JSON.stringify([end, gap, beginning])).toBe(
            whole(joined),
          );
        }
      }
    }
  });
});

/** A counter that keeps what its tokenizer was given. */
function recording() {
  const counted: string[] = [];
  const counter = createTokenCounter((part) => {
    counted.push(part);
    return part.length;
  });
  return { counter, counted };
}
