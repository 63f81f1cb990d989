import { expect, test } from 'vitest';
import { readModelsConfig } from './config.ts';
import { listModels } from './list-models.ts';
import { startServer } from './loopback.fixture.ts';

test('says of each provider if it is configured and reachable, and what it offers', async () => {
  const seen: Record<string, unknown> = {};
  const server = await startServer((request, response) => {
    seen[request.url!] = request.headers;
    if (request.headers['x-api-key']) response.writeHead(401).end('{}');
    else if (request.headers['x-goog-api-key']) {
      const models = [{ name: 'models/gemini-new', inputTokenLimit: 1000 }];
      response.end(JSON.stringify({ models }));
    } else response.end(JSON.stringify({ data: [{ id: 'small', max_model_len: 4096 }] }));
  });
  const dead = await startServer(() => {});
  await dead.stop();
  const config = readModelsConfig({
    DIALECTIC_BASE_URL: `${server.url}/own`,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'wrong',
    GOOGLE_BASE_URL: server.url,
    OLLAMA_BASE_URL: dead.url,
    LLAMACPP_BASE_URL: dead.url,
    VLLM_BASE_URL: dead.url,
  });
  const rows = new Map((await listModels(config)).map((row) => [row.provider, row]));
  await server.stop();

  expect(rows.get('compatible')).toMatchObject({
    configured: true,
    reachable: true,
    models: [{ id: 'compatible/small', windowTokens: 4096, price: null }],
  });
  expect(rows.get('google')!.models).toMatchObject([
    { id: 'google/gemini-new', windowTokens: 1000 },
  ]);
  expect(rows.get('anthropic')).toMatchObject({
    reachable: false,
    problem: { code: 'provider_auth' },
  });
  expect(rows.get('ollama')!.problem!.code).toBe('provider_unreachable');
  expect(rows.get('openai')).toEqual({
    provider: 'openai',
    configured: false,
    reachable: null,
    problem: null,
    models: [],
  });
  expect(Object.keys(seen)).toContain('/own/models');
});
