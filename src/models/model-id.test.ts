import { expect, test } from 'vitest';
import { parseModelId } from './model-id.ts';

test('the first slash divides provider and model', () => {
  expect(parseModelId('openrouter/meta/llama-3')).toEqual({
    provider: 'openrouter',
    name: 'meta/llama-3',
  });
});

test.each(['gpt-5', '/gpt-5', 'openai/', 'openai/ ', 'Open AI/x', ''])('%j is refused', (id) => {
  expect(() => parseModelId(id)).toThrow('provider/model');
});
