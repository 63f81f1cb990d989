import { describe, expect, test } from 'vitest';
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
});
