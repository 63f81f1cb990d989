import { describe, expect, test } from 'vitest';
import type { DialecticError } from '../errors/errors.ts';
import { readModelsConfig } from './config.ts';
import { isConfigured, resolveEndpoint } from './endpoint.ts';

describe('readModelsConfig', () => {
  test('without key or address, hosted providers are not configured and local presets are', () => {
    const { providers } = readModelsConfig({});
    const configured = Object.keys(providers).filter((name) => isConfigured(providers[name]!));
    expect(configured).toEqual(['ollama', 'llamacpp', 'vllm']);
    expect(() => resolveEndpoint('openai', providers['openai']!)).toThrow('no key for "openai"');
    expect(() => resolveEndpoint('compatible', providers['compatible']!)).toThrow('no base URL');
  });

  test('takes keys and base URLs from the environment', () => {
    const { providers } = readModelsConfig({
      OPENAI_API_KEY: ' sk-1 ',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      GEMINI_API_KEY: 'g',
      DIALECTIC_BASE_URL: 'http://127.0.0.1:9/api/',
      DIALECTIC_API_KEY: 'd',
    });
    const endpoint = (name: string) => resolveEndpoint(name, providers[name]!);
    expect(endpoint('openai')).toEqual({ baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-1' });
    expect(endpoint('anthropic').baseUrl).toBe('http://127.0.0.1:9/v1');
    expect(endpoint('google').baseUrl).toMatch(/googleapis\.com\/v1beta$/);
    expect(endpoint('compatible')).toEqual({ baseUrl: 'http://127.0.0.1:9/api', apiKey: 'd' });
  });

  test('the environment wins over the file, and a file may name its own variable', () => {
    const file = {
      providers: {
        openai: { apiKey: 'from-file', concurrency: 2 },
        lab: { baseUrl: 'https://lab.example/v1', apiKeyEnv: 'LAB_KEY', structuredOutputs: false },
      },
    };
    const { providers } = readModelsConfig({ OPENAI_API_KEY: 'from-env', LAB_KEY: 'l' }, file);
    expect(providers['openai']).toMatchObject({ apiKey: 'from-env', concurrency: 2 });
    expect(providers['lab']).toEqual({
      kind: 'compatible',
      baseUrl: 'https://lab.example/v1',
      apiKey: 'l',
      structuredOutputs: false,
    });
  });

  test('a wrong field or address is refused and named', () => {
    expect(() => readModelsConfig({}, { providers: { openai: { apikey: 'x' } } })).toThrow(
      /apikey.*\n?.*providers\.openai/s,
    );
    expect(() => readModelsConfig({ OPENAI_BASE_URL: 'localhost:80' })).toThrow('http(s)');
    expect(() => readModelsConfig({ DIALECTIC_BASE_URL: 'file:///etc' })).toThrow('http(s)');
  });

  test('openrouter needs a key although its address is known', () => {
    expect(isConfigured(readModelsConfig({}).providers['openrouter']!)).toBe(false);
    const { providers } = readModelsConfig({ OPENROUTER_API_KEY: 'k' });
    expect(isConfigured(providers['openrouter']!)).toBe(true);
  });

  test.each([
    ['a line break', 'sk-canary-1\nX-Evil: 1', 'place 12'],
    ['a return', 'sk-canary-1\r2', 'place 12'],
    ['a NUL', 'sk-canary-1\0', 'place 12'],
    ['a space', 'sk canary-1', 'place 3'],
    ['another script', 'sk-canary-\u00fc', 'place 11'],
    ['9,000 characters', 'canary'.repeat(1_500), '9000 characters'],
  ])('a key with %s is refused by the name of its variable alone', (_, key, where) => {
    const refused = refusalOf({ OPENAI_API_KEY: key });
    expect(refused).toMatchObject({ code: 'provider_key_malformed' });
    expect(refused.message).toMatch(new RegExp(`^OPENAI_API_KEY .*${where}`));
    expect(JSON.stringify(refused) + refused.stack).not.toContain('canary');
    const file = { providers: { lab: { apiKey: key }, own: { headers: { 'x-key': `${key}\n` } } } };
    expect(refusalOf({}, file).message).toMatch(/^providers\.lab\.apiKey /);
    const named = { providers: { lab: { apiKeyEnv: 'LAB_KEY' } } };
    expect(refusalOf({ LAB_KEY: key }, named).message).toMatch(/^LAB_KEY /);
  });

  test('a header that no request can carry is refused by its name', () => {
    const own = (headers: object) => ({ providers: { lab: { headers } } });
    expect(refusalOf({}, own({ 'x-key': 'canary\n' }))).toMatchObject({
      code: 'provider_key_malformed',
      message: 'providers.lab.headers.x-key holds a line break or a character outside of ASCII.',
    });
    expect(refusalOf({}, own({ 'x canary\n': 'v' })).message).not.toContain('canary');
  });

  test.each([
    ['http://user:canary@127.0.0.1/v1', 'password'],
    ['http://canary@127.0.0.1/v1', 'user name'],
    ['https://lab.example/v1?key=canary', 'query'],
    ['https://lab.example/v1#canary', 'fragment'],
    ['user:canary@127.0.0.1', 'http(s)'],
    ['http://user:canary@host:99999', 'http(s)'],
    ['http://lab.example/\ncanary', 'http(s)'],
  ])('the address %j is refused and not repeated', (url, what) => {
    for (const refused of [
      refusalOf({ OPENAI_BASE_URL: url }),
      refusalOf({}, { providers: { openai: { baseUrl: url } } }),
    ]) {
      expect(refused).toMatchObject({ code: 'base_url_invalid' });
      expect(refused.message).toMatch(/^(OPENAI_BASE_URL|providers\.openai\.baseUrl) /);
      expect(refused.message).toContain(what);
      expect(JSON.stringify(refused) + refused.stack).not.toContain('canary');
    }
  });
});

function refusalOf(environment: Record<string, string>, file: object = {}): DialecticError {
  try {
    readModelsConfig(environment, file);
  } catch (error) {
    return error as DialecticError;
  }
  throw new Error('nothing was refused');
}
