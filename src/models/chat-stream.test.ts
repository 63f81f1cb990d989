import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendHttp } from '../platform/http.ts';
import { openStream } from './adapters.ts';
import { buildCall } from './build-call.ts';
import { classifyError } from './classify-error.ts';
import { secretsFilter } from './hide-secrets.ts';
import { chatEvent, startServer } from './loopback.fixture.ts';
import { createNameRestorer } from './restore-names.ts';
import { type CallOutcome, type StreamingModel, streamCall } from './run-call.ts';

const provider = { kind: 'compatible', headers: { 'X-Title': 'a debate' } } as const;
const id = { provider: 'lab', name: 'm' };
const request = {
  model: 'lab/m',
  system: 'You write.',
  messages: [
    { role: 'user', content: 'Brief.' },
    { role: 'assistant', content: 'Half of ' },
    { role: 'user', content: 'Go on — “now”.' },
  ],
  maxOutputTokens: 77,
  schema: { name: 'thesis__plan', schema: { type: 'object', properties: { a: {} } } },
} as const;

let answer: { readonly status: number; readonly body: string };
let sent: { readonly headers: NodeJS.Dict<string | string[]>; readonly body: unknown }[] = [];
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer(({ headers }, response, body) => {
    sent.push({ headers, body: JSON.parse(body) });
    const type = answer.status === 200 ? 'text/event-stream' : 'application/json';
    response.writeHead(answer.status, { 'content-type': type, 'retry-after': '3' });
    response.end(answer.body);
  });
});
afterAll(() => server.stop());

const ask = (model: StreamingModel, options: LanguageModelV4CallOptions): Promise<CallOutcome> =>
  streamCall(
    model,
    options,
    { names: createNameRestorer(new Map()), secrets: secretsFilter({}), hide: (text) => text },
    () => {},
  );

/** Asks through our reader and through the AI SDK's. */
async function askBoth(body: string, status = 200, extra: object = {}) {
  answer = { status, body };
  sent = [];
  const settings = { ...provider, baseUrl: `${server.url}/v1`, apiKey: 'k' };
  const { options } = buildCall(request, id, settings, { options: extra as never });
  const theirs = createOpenAICompatible({
    name: id.provider,
    baseURL: settings.baseUrl,
    apiKey: settings.apiKey,
    headers: settings.headers,
    fetch: sendHttp,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(id.name);
  return {
    ours: await ask(await openStream(id, settings, sendHttp), options),
    theirs: await ask(theirs, options),
  };
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const choice = (delta: unknown, finish: unknown = null) =>
  event({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] });
const USAGE = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 100, odd: 'x' },
  completion_tokens_details: { reasoning_tokens: 7 },
  cost: 0.01,
};

test.each<[string, string]>([
  ['a short answer', chatEvent('fine', 'stop')],
  [
    'pieces and an end',
    `${chatEvent('one ')}${chatEvent('漢字')}${choice({}, 'stop')}data: [DONE]\n\n`,
  ],
  [
    'usage with the last piece',
    event({ id: 'c1', choices: [], usage: USAGE }) + chatEvent('x', 'stop'),
  ],
  ['usage behind the end', `${chatEvent('x', 'stop')}${event({ choices: [], usage: USAGE })}`],
  ['empty usage', chatEvent('x', 'stop') + event({ choices: [], usage: {} })],
  ['a limit', chatEvent('half', 'length')],
  ['a filter', chatEvent('half', 'content_filter')],
  ['tools', chatEvent('half', 'tool_calls')],
  ['a reason that nobody knows', chatEvent('half', 'eos_token')],
  ['a refusal', choice({ refusal: 'I will not.' }) + choice({}, 'stop')],
  ['thoughts beside the text', choice({ reasoning_content: 'hm', content: 'so' }, 'stop')],
  [
    'a text in parts',
    choice({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
        { type: 'text', text: 'so' },
      ],
    }) + choice({}, 'stop'),
  ],
  [
    'no delta, no choice, no id',
    event({ choices: [{}] }) + event({ choices: [] }) + chatEvent('x', 'stop'),
  ],
  ['comments and other lines', `: wait\n\nevent: x\nid: 1\n${chatEvent('x', 'stop')}`],
  ['an end without a reason', chatEvent('half')],
  ['an event that is cut off', `${chatEvent('half')}data: {"choices"`],
  ['nothing', ''],
  ['no JSON', `${chatEvent('one ')}data: {broken\n\n${chatEvent('three', 'stop')}`],
  ['an error', chatEvent('one ') + event({ error: { message: 'overloaded', code: 503 } })],
  ['an error in other words', event({ error: 'rate limit reached' })],
  ['a number for a text', choice({ content: 5 }, 'stop')],
  ['a text for choices', event({ choices: 'none' })],
  ['a list for an event', event([1])],
  ['nothing for an event', event(null)],
  ['a number for a reason', choice({ content: 'x' }, 5)],
  [
    'a text for a count',
    chatEvent('x', 'stop') + event({ choices: [], usage: { prompt_tokens: '5' } }),
  ],
])('%s gives what the AI SDK makes of it', async (_, body) => {
  const { ours, theirs } = await askBoth(body);
  const code = ({ failure }: CallOutcome) =>
    failure === undefined
      ? 'none'
      : classifyError(failure, { ...id, model: 'm' }, (text) => text).code;
  expect(code(ours)).toBe(code(theirs));
  const { failure: _ours, ...rest } = ours;
  const { failure: _theirs, ...expected } = theirs;
  expect(rest).toEqual({
    ...expected,
    // The SDK reports counts of nothing where none were reported.
    ...(expected.usage && !expected.usage.raw && { usage: ours.usage }),
  });
});

test('the request is the one that the AI SDK sends, but for its user agent', async () => {
  await askBoth(chatEvent('fine', 'stop'), 200, { reasoningEffort: 'low', user: 'u' });
  const [ours, theirs] = sent;
  expect(ours!.body).toEqual(theirs!.body);
  expect(ours!.body).toMatchObject({ stream: true, max_tokens: 77, reasoning_effort: 'low' });
  const { 'user-agent': agent, ...headers } = ours!.headers;
  expect(agent).toMatch(/^dialectic\//);
  const { 'user-agent': _, ...expected } = theirs!.headers;
  expect(headers).toEqual({ ...expected, 'content-length': headers['content-length'] });
});

test.each([
  ['an error with a message', 429, '{"error": {"message": "slow down"}}'],
  ['an error of another form', 400, '{"detail": "no"}'],
  ['a page', 502, '<h1>Bad gateway</h1>'],
  ['nothing', 503, ''],
])('%s is refused as by the AI SDK', async (_, status, body) => {
  const { ours, theirs } = await askBoth(body, status);
  const name = ({ failure }: CallOutcome) =>
    classifyError(failure, { ...id, model: 'm' }, (text) => text);
  const { code, message, retryable, details } = name(theirs);
  expect(name(ours)).toMatchObject({ code, message, retryable, details });
});

test('an address where nothing listens is named', async () => {
  const gone = { ...provider, baseUrl: 'http://127.0.0.1:1/v1' };
  const { options } = buildCall(request, id, gone);
  const { failure } = await ask(await openStream(id, gone, sendHttp), options);
  expect(classifyError(failure, { ...id, model: 'm' }, (text) => text)).toMatchObject({
    code: 'provider_unreachable',
    message: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:1'),
  });
});
