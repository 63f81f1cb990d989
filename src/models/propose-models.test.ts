import { expect, test } from 'vitest';
import type { SendHttp } from '../platform/http.ts';
import { readModelsConfig } from './config.ts';
import { proposeModels } from './propose-models.ts';

/** Answers for each origin with the models that it offers; all others are not there. */
const serve =
  (lists: Readonly<Record<string, readonly string[]>>): SendHttp =>
  async (input) => {
    const models = lists[new URL(new Request(input).url).origin];
    if (!models) throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' });
    return Response.json({ data: models.map((id) => ({ id })) });
  };

const OPENAI = 'https://api.openai.com';
const ANTHROPIC = 'https://api.anthropic.com';
const OLLAMA = 'http://127.0.0.1:11434';

test.each([
  [
    'the newest of each family, one of each provider',
    { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' },
    {
      [OPENAI]: ['gpt-4.1', 'gpt-5', 'gpt-5-codex', 'tts-1', 'gpt-5.2'],
      [ANTHROPIC]: ['claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929', 'claude-opus-4-1'],
      [OLLAMA]: ['tiny'],
    },
    ['openai/gpt-5.2', 'anthropic/claude-sonnet-4-5-20250929'],
  ],
  [
    'the same model twice where there is but one',
    { OPENAI_API_KEY: 'k' },
    { [OPENAI]: ['gpt-5'] },
    ['openai/gpt-5', 'openai/gpt-5'],
  ],
  [
    'models of a local server where there is no other',
    {},
    { [OLLAMA]: ['nomic-embed-text', 'llama3.3', 'qwen3', 'phi4'] },
    ['ollama/llama3.3', 'ollama/qwen3'],
  ],
  [
    'what DIALECTIC_BASE_URL offers',
    { DIALECTIC_BASE_URL: 'http://127.0.0.1:9999' },
    { 'http://127.0.0.1:9999': ['house-model'], [OLLAMA]: ['tiny'] },
    ['compatible/house-model', 'compatible/house-model'],
  ],
  ['nothing where nothing answers', { OPENAI_API_KEY: 'k' }, {}, []],
  ['nothing of a provider without a key', {}, { [OPENAI]: ['gpt-5'] }, []],
])('proposes %s', async (_, environment, lists, participants) => {
  const proposal = await proposeModels(readModelsConfig(environment), serve(lists));
  expect(proposal.participants).toEqual(participants);
});

test('says of each provider where it was looked for and why it cannot be used', async () => {
  const { sought } = await proposeModels(readModelsConfig({}), serve({}));
  expect(sought.map(({ provider }) => provider)).toEqual(['ollama', 'llamacpp', 'vllm']);
  expect(sought[0]).toMatchObject({ address: `${OLLAMA}/v1`, local: true, models: [] });
  expect(sought[0]!.problem).toContain('nothing listens there');
});
