import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DialecticError } from '../errors/errors.ts';
import { readModelsConfig } from './config.ts';
import { startServer } from './loopback.fixture.ts';
import { createModelProvider } from './provider.ts';
import type { ModelProvider, ModelRequest } from './types.ts';

/** A third party's idea of the wire formats, so that they are not judged by servers of our own. */
const mock = new LLMock({ port: 0, chunkSize: 5 });
const MODELS = [
  'openai/gpt-5',
  'chat/gpt-5',
  'anthropic/claude-sonnet-4-5',
  'google/gemini-2.5-pro',
  'compatible/any',
];
const REPLY = '{"summary":"A plan with — dashes, “quotes” and 漢字.","risks":[]}';
const configOf = (url: string) => {
  const key = { apiKey: 'test' };
  return readModelsConfig(
    {},
    {
      providers: {
        openai: { ...key, baseUrl: `${url}/v1` },
        chat: { ...key, kind: 'openai', api: 'chat', baseUrl: `${url}/v1` },
        anthropic: { ...key, baseUrl: url },
        google: { ...key, baseUrl: url },
        compatible: { ...key, baseUrl: url },
      },
    },
  );
};
let models: ModelProvider;

beforeAll(async () => {
  const usage = {
    prompt_tokens: 120,
    completion_tokens: 30,
    input_tokens: 120,
    output_tokens: 30,
    promptTokenCount: 120,
    candidatesTokenCount: 30,
    totalTokenCount: 150,
    total_tokens: 150,
  };
  mock.onMessage('finished', { content: REPLY });
  mock.onMessage('usage', { content: REPLY, usage });
  mock.onMessage('length', { content: REPLY.slice(0, 20), finishReason: 'length' });
  mock.onMessage('limited', { error: { message: 'slow down' }, status: 429, retryAfter: 3 });
  mock.onMessage('denied', { error: { message: 'no' }, status: 401 });
  mock.onMessage('missing', { error: { message: 'no such model' }, status: 404 });
  mock.onMessage('overload', { error: { message: 'overloaded' }, status: 503 });
  mock.onMessage('cut', { content: REPLY }, { truncateAfterChunks: 12, latency: 5 });
  mock.onMessage('slow', { content: REPLY.repeat(20) }, { latency: 20 });
  mock.onMessage('malformed', { content: REPLY }, { chaos: { malformedRate: 1 } });
  mock.onMessage('disconnect', { content: REPLY }, { chaos: { disconnectRate: 1 } });
  await mock.start();
  const config = configOf(mock.url);
  // A fresh door for each test would hide nothing but the breaker, which has tests of its own.
  models = {
    generate: (request, options) => createModelProvider(config).generate(request, options),
  };
});
afterAll(() => mock.stop());

const ask = (model: string, content: string): ModelRequest => ({
  model,
  system: 'You write plans.',
  messages: [
    { role: 'user', content: 'Brief.' },
    { role: 'assistant', content: 'Understood. ' },
    { role: 'user', content },
  ],
  cacheablePrefixCount: 1,
  maxOutputTokens: 500,
});
const fault = async (model: string, content: string, stream: boolean): Promise<DialecticError> => {
  const outcome = await models
    .generate(ask(model, content), { stream })
    .catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Error);
  return outcome as DialecticError;
};

describe.each(MODELS)('%s', (model) => {
  test.each([true, false])('gives the whole text back (stream: %s)', async (stream) => {
    const deltas: string[] = [];
    const result = await models.generate(ask(model, 'finished'), {
      stream,
      onDelta: (text) => deltas.push(text),
    });
    expect(result).toMatchObject({ text: REPLY, finishReason: 'stop' });
    expect(deltas.join('')).toBe(REPLY);
    if (stream) expect(deltas.length).toBeGreaterThan(3);
  });

  test.each([true, false])('reports usage (stream: %s)', async (stream) => {
    const { usage } = await models.generate(ask(model, 'usage'), { stream });
    expect(usage).toMatchObject({ inputTokens: 120, outputTokens: 30, estimated: false });
  });

  test.each([true, false])('tells an answer that hit the limit (stream: %s)', async (stream) => {
    // The mock sends no incomplete_details on the responses API, so there is nothing to tell by.
    if (model.startsWith('openai/')) return;
    const result = await models.generate(ask(model, 'length'), { stream });
    expect(result).toMatchObject({ text: REPLY.slice(0, 20), finishReason: 'length' });
  });

  test.each([true, false])('names refusals (stream: %s)', async (stream) => {
    const limited = await fault(model, 'limited', stream);
    expect(limited).toMatchObject({ code: 'provider_rate_limited', retryable: true });
    expect(limited.details['retryAfterMs']).toBe(3000);
    expect(await fault(model, 'denied', stream)).toMatchObject({
      code: 'provider_auth',
      retryable: false,
    });
    expect((await fault(model, 'missing', stream)).code).toBe('model_unknown');
    expect((await fault(model, 'overload', stream)).code).toBe('provider_unavailable');
  });

  test('keeps what came before a cut', async () => {
    const result = await models.generate(ask(model, 'cut'));
    expect(result.finishReason).toBe('interrupted');
    expect(result.text).not.toBe('');
    expect(REPLY.startsWith(result.text)).toBe(true);
  });

  test('keeps what came before an abort', async () => {
    const stop = new AbortController();
    const result = await models.generate(ask(model, 'slow'), {
      signal: stop.signal,
      onDelta: () => stop.abort(),
    });
    expect(result).toMatchObject({
      finishReason: 'interrupted',
      error: { code: 'provider_call_aborted' },
    });
    expect(REPLY.startsWith(result.text)).toBe(true);
  });

  test.each(['malformed', 'disconnect'])('makes an error of a %s answer', async (kind) => {
    for (const stream of [true, false]) {
      expect((await fault(model, kind, stream)).code).toMatch(
        /^provider_(bad_response|unreachable)$/,
      );
    }
  });
});

type Part = string | { readonly text?: string };
type Sent = {
  readonly role: string;
  readonly content?: string | readonly Part[];
  readonly parts?: Part[];
};
type SentBody = { messages?: Sent[]; input?: Sent[]; contents?: Sent[] };

/** The turns of a request as its bytes say them, without the system instruction. */
function readTurns(body: string): { role: string; text: string }[] {
  const { messages, input, contents } = JSON.parse(body) as SentBody;
  return (messages ?? input ?? contents)!
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map(({ role, content, parts }) => ({
      role: role === 'model' ? 'assistant' : role,
      text: [content ?? parts ?? []]
        .flat()
        .map((part) => (typeof part === 'string' ? part : part.text))
        .join(''),
    }));
}

test.each(MODELS)('%s gets a continued answer as turns, each to the byte', async (model) => {
  const bodies: string[] = [];
  const server = await startServer((_request, response, body) => {
    bodies.push(body);
    response.writeHead(400).end('{}');
  });
  const talk = [
    { role: 'user', content: 'Brief.' },
    { role: 'user', content: 'Write.' },
    { role: 'assistant', content: '{"a": "one ' },
    { role: 'user', content: 'Go on from: one ' },
    { role: 'assistant', content: ' two\n' },
    { role: 'user', content: 'Go on from: two' },
  ] as const;
  try {
    const request = { ...ask(model, ''), messages: talk, continues: true };
    await createModelProvider(configOf(server.url))
      .generate(request)
      .catch(() => {});
  } finally {
    await server.stop();
  }
  const turns = readTurns(bodies[0]!);
  const behind = turns.slice(turns.findIndex(({ role }) => role === 'assistant'));
  expect(behind).toEqual(talk.slice(2).map(({ role, content }) => ({ role, text: content })));
  const before = turns.slice(0, turns.length - behind.length);
  expect(before.every(({ role }) => role === 'user')).toBe(true);
  expect(before.map(({ text }) => text).join('')).toBe('Brief.Write.');
});
