import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { DialecticError } from '../errors/errors.ts';
import { readModelsConfig } from './config.ts';
import { chatEvent, startServer } from './loopback.fixture.ts';
import { createModelProvider } from './provider.ts';
import type { CallOptions, ModelRequest } from './types.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const request: ModelRequest = {
  model: 'compatible/m',
  system: 'You write.',
  messages: [{ role: 'user', content: 'Write.' }],
};

async function setUp(
  answer: (response: ServerResponse, body: string, n: number) => void,
  settings: object = {},
) {
  let requests = 0;
  const server = await startServer((_, response, body) => answer(response, body, ++requests));
  stops.push(server.stop);
  const config = readModelsConfig(
    { DIALECTIC_BASE_URL: server.url, DIALECTIC_API_KEY: 'sk-secret' },
    { providers: { compatible: settings } },
  );
  const provider = createModelProvider(config);
  return {
    generate: (options: CallOptions = {}, over: Partial<ModelRequest> = {}) =>
      provider.generate({ ...request, ...over }, options),
    requests: () => requests,
  };
}

const stream = (response: ServerResponse, ...events: string[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(event);
};

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return (error as DialecticError).code;
  }
};

describe('a provider that misbehaves', () => {
  test.each([true, false])('a hang ends in a timeout (stream: %s)', async (asStream) => {
    const { generate } = await setUp(() => {}, { timeouts: { firstByteMs: 60, totalMs: 120 } });
    expect(await codeOf(generate({ stream: asStream }))).toBe('provider_timeout');
  });

  test('headers without a first byte are a hang as well', async () => {
    const { generate } = await setUp(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
      },
      { timeouts: { firstByteMs: 150 } },
    );
    await expect(generate()).rejects.toThrow('sent nothing for 150 ms');
  });

  test('silence after some text keeps the text', async () => {
    const { generate } = await setUp((response) => stream(response, chatEvent('half a ')), {
      timeouts: { silenceMs: 150 },
    });
    const deltas: string[] = [];
    const result = await generate({ onDelta: (text) => deltas.push(text) });
    expect(result).toMatchObject({
      text: 'half a ',
      finishReason: 'interrupted',
      error: { code: 'provider_timeout' },
      usage: { estimated: true },
    });
    expect(result.usage.outputTokens).toBeGreaterThan(0);
    expect(deltas.join('')).toBe('half a ');
  });

  test('signs of life keep a slow stream going past the silence limit', async () => {
    const timeouts = { firstByteMs: 60_000, silenceMs: 1_500, totalMs: 60_000 };
    const { generate } = await setUp(
      (response) => {
        stream(response, chatEvent('slow '));
        let beats = 0;
        const timer = setInterval(() => {
          response.write(': keep-alive\n\n');
          if (++beats < 100) return;
          clearInterval(timer);
          response.end(chatEvent('but sure', 'stop'));
        }, 20);
      },
      { timeouts },
    );
    expect(await generate()).toMatchObject({ text: 'slow but sure', finishReason: 'stop' });
  });

  test('a lost connection keeps the text, without text it is an error', async () => {
    let lose = (): void => {};
    const { generate } = await setUp((response, _, n) => {
      lose = () => response.destroy();
      if (n === 1) stream(response, chatEvent('half'));
      else lose();
    });
    expect(await generate({ onDelta: () => lose() })).toMatchObject({
      text: 'half',
      finishReason: 'interrupted',
      error: { code: 'provider_unreachable' },
    });
    expect(await codeOf(generate())).toBe('provider_unreachable');
  });

  test('a stream that ends without a reason is interrupted, not finished', async () => {
    const { generate } = await setUp((response) => {
      stream(response, chatEvent('half'));
      response.end();
    });
    expect(await generate()).toMatchObject({ text: 'half', finishReason: 'interrupted' });
  });

  test('nothing is taken from behind a broken event', async () => {
    const { generate } = await setUp((response) => {
      stream(response, chatEvent('one '), 'data: {broken\n\n', chatEvent('three', 'stop'));
      response.end();
    });
    expect(await generate()).toMatchObject({ text: 'one ', finishReason: 'interrupted' });
  });

  test.each([true, false])('a web page is an error, never text (stream: %s)', async (asStream) => {
    const { generate } = await setUp((response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>gateway</html>');
    });
    const call = generate({ stream: asStream });
    await expect(call).rejects.toMatchObject({ code: 'provider_bad_response', retryable: true });
  });

  test('a web page in the guise of a stream is an error as well', async () => {
    const { generate } = await setUp((response) => {
      stream(response, '<html>gateway</html>');
      response.end();
    });
    expect(await codeOf(generate())).toBe('provider_bad_response');
  });

  test('a redirect is not followed', async () => {
    const { generate, requests } = await setUp((response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    expect(await codeOf(generate())).toBe('provider_bad_response');
    expect(requests()).toBe(1);
  });

  test('a wrong key is permanent, is asked once and does not show', async () => {
    const { generate, requests } = await setUp((response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'bad key sk-secret' } }));
    });
    const error = await generate().catch((thrown: unknown) => thrown as DialecticError);
    expect(error).toMatchObject({ code: 'provider_auth', retryable: false });
    expect((error as DialecticError).message).not.toContain('sk-secret');
    expect(requests()).toBe(1);
  });

  test('nobody listening is unreachable', async () => {
    const { url, stop } = await startServer(() => {});
    await stop();
    const provider = createModelProvider(readModelsConfig({ DIALECTIC_BASE_URL: url }));
    expect(await codeOf(provider.generate(request))).toBe('provider_unreachable');
  });

  test('after five failures no request leaves for a while', async () => {
    const { generate, requests } = await setUp((response) => response.writeHead(500).end('{}'));
    for (let n = 0; n < 5; n++) expect(await codeOf(generate())).toBe('provider_unavailable');
    await expect(generate()).rejects.toMatchObject({
      code: 'provider_circuit_open',
      retryable: true,
      details: { sent: false },
    });
    expect(requests()).toBe(5);
  });
});

const answer = (response: ServerResponse): void => {
  stream(response, chatEvent('fine', 'stop'));
  response.end();
};

const failToListen = (): void => {
  throw new RangeError('disk full');
};

describe('a call', () => {
  test('an abort before any text is an error, after some text keeps it', async () => {
    const { generate, requests } = await setUp((response, _, n) => {
      if (n === 2) stream(response, chatEvent('some'));
    });
    const early = new AbortController();
    const call = codeOf(generate({ signal: early.signal }));
    await expect.poll(requests).toBe(1);
    early.abort();
    expect(await call).toBe('provider_call_aborted');

    const late = new AbortController();
    const result = await generate({ signal: late.signal, onDelta: () => late.abort() });
    expect(result).toMatchObject({
      text: 'some',
      finishReason: 'interrupted',
      error: { code: 'provider_call_aborted' },
    });
  });

  test('a signal that is aborted already sends nothing', async () => {
    const { generate, requests } = await setUp(answer);
    await expect(generate({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'provider_call_aborted',
      details: { sent: false },
    });
    expect(requests()).toBe(0);
  });

  test('a fault of the listener is its own', async () => {
    const { generate } = await setUp(answer);
    await expect(generate({ onDelta: failToListen })).rejects.toThrow(RangeError);
  });

  test('no more run at once than the provider is configured for', async () => {
    const open: ServerResponse[] = [];
    let most = 0;
    const { generate } = await setUp(
      (response) => {
        open.push(response);
        most = Math.max(most, open.length);
        // Both answers wait for each other, and a moment longer for a third that must not come.
        if (open.length === 2) setTimeout(() => open.splice(0).forEach(answer), 20);
      },
      { concurrency: 2 },
    );
    await Promise.all(Array.from({ length: 6 }, () => generate()));
    expect(most).toBe(2);
  });

  test('the schema goes out named, with safe keys that come back as they were', async () => {
    let sent = '';
    const { generate } = await setUp((response, body) => {
      sent = body;
      stream(response, chatEvent('{"a__x26'), chatEvent('__b":"x"}', 'stop'));
      response.end();
    });
    const schema = { type: 'object', properties: { 'a_&_b': { type: 'string' } } };
    const result = await generate({}, { schema: { name: 'thesis__plan', schema } });
    expect(result.text).toBe('{"a_&_b":"x"}');
    expect(JSON.parse(sent).response_format.json_schema).toMatchObject({
      name: 'thesis__plan',
      strict: false,
      schema: { title: 'thesis__plan', properties: { a__x26__b: { type: 'string' } } },
    });
  });

  test('a server that knows no schema gets none', async () => {
    let sent = '';
    const { generate } = await setUp(
      (response, body) => {
        sent = body;
        answer(response);
      },
      { structuredOutputs: false },
    );
    await generate({}, { schema: { name: 'a__b', schema: { type: 'object' } } });
    expect(JSON.parse(sent)).not.toHaveProperty('response_format');
  });

  test('an unknown provider and a missing key are named before anything is sent', async () => {
    const { generate } = await setUp(answer);
    expect(await codeOf(generate({}, { model: 'nobody/x' }))).toBe('provider_not_configured');
    expect(await codeOf(generate({}, { model: 'openai/x' }))).toBe('provider_not_configured');
    expect(await codeOf(generate({}, { model: 'x' }))).toBe('model_unknown');
  });
});
