import { describe, expect, test } from 'vitest';
import { buildCall } from './build-call.ts';
import type { ProviderConfig } from './config.ts';
import { parseModelId } from './model-id.ts';
import type { ModelRequest } from './types.ts';

const request: ModelRequest = {
  model: 'anthropic/claude-sonnet-4-5',
  system: 'System.',
  messages: [
    { role: 'user', content: 'Brief.' },
    { role: 'user', content: 'Sources.' },
    { role: 'assistant', content: 'Half ' },
    { role: 'user', content: 'Go on.' },
  ],
  cacheablePrefixCount: 2,
  cacheKey: 'session-1',
  schema: { name: 'thesis__plan', schema: { type: 'object', properties: { a: {} } } },
};
const build = (kind: ProviderConfig['kind'], over: Partial<ModelRequest> = {}) => {
  const whole = { ...request, model: `${kind}/m`, ...over };
  return buildCall(whole, parseModelId(whole.model), { kind }).options;
};

describe('buildCall', () => {
  test('for Claude the stable part is marked at its end and at that of the system', () => {
    const { prompt } = build('anthropic');
    const marked = prompt.map((message) => message.providerOptions !== undefined);
    expect(marked).toEqual([true, false, true, false, false]);
    expect(prompt[2]!.providerOptions).toEqual({
      anthropic: { cacheControl: { type: 'ephemeral' } },
    });
  });

  test('other providers find the stable part by themselves, or by its key', () => {
    const { prompt, providerOptions } = build('openai');
    expect(prompt.every((message) => message.providerOptions === undefined)).toBe(true);
    expect(providerOptions!['openai']).toMatchObject({ promptCacheKey: 'session-1', store: false });
  });

  test('turns keep their order, their roles and every blank', () => {
    const { prompt } = build('google');
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'user']);
    expect(prompt[3]!.content).toEqual([{ type: 'text', text: 'Half ' }]);
  });

  test('the schema goes under its name, and not at all to a Claude that knows none', () => {
    expect(build('openai').responseFormat).toMatchObject({ type: 'json', name: 'thesis__plan' });
    expect(build('anthropic', { model: 'anthropic/claude-sonnet-4-5' })).toHaveProperty(
      'responseFormat',
    );
    expect(build('anthropic', { model: 'anthropic/claude-3-5-haiku-latest' })).not.toHaveProperty(
      'responseFormat',
    );
  });

  test('the configured limit of a model holds where the request sets none', () => {
    const model = { maxOutputTokens: 900, options: { reasoningEffort: 'low' } };
    const { options } = buildCall(request, parseModelId('openai/m'), { kind: 'openai' }, model);
    expect(options).toMatchObject({
      maxOutputTokens: 900,
      providerOptions: { openai: { reasoningEffort: 'low' } },
    });
  });

  test.each([
    { most: 20_000, budget: 4_000, thinking: 4_000 },
    { most: 4_096, budget: 4_000, thinking: 2_048 },
    { most: 2_000, budget: 4_000, thinking: 0 },
    { most: 4_096, budget: undefined, thinking: 1_024 },
  ])('Claude thinks within what was set aside: $most with $budget', (row) => {
    const { most, budget, thinking } = row;
    const wish = { type: 'enabled', ...(budget && { budgetTokens: budget }) };
    const { options } = buildCall(
      { ...request, maxOutputTokens: most },
      parseModelId('anthropic/claude-sonnet-4-5'),
      { kind: 'anthropic' },
      { options: { effort: 'low', thinking: wish } },
    );
    // The adapter sends the sum of the two as max_tokens.
    expect(options.maxOutputTokens).toBe(most - thinking);
    const sent = options.providerOptions!['anthropic']!;
    expect(sent['effort']).toBe('low');
    expect(sent['thinking']).toEqual(
      thinking > 0 ? { type: 'enabled', budgetTokens: thinking } : undefined,
    );
  });
});
