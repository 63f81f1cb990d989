import { describe, expect, test } from 'vitest';
import { readModelsConfig } from '../config.ts';
import { createModelProvider } from '../provider.ts';
import { loadTokenCounter } from '../tokens.ts';
import type { ModelProvider, ModelRequest, ModelResult } from '../types.ts';
import { writeDocument } from './author.ts';
import { createOfflineProvider } from './offline-provider.ts';
import { buildRequest, contract, text, texts } from './request.fixture.ts';

const SCHEMA = contract({
  summary: text,
  problem: text,
  strengths: texts,
  risks: texts,
  costs: text,
  décisions_日本: texts,
});
const requestFor = (model: string): ModelRequest => buildRequest('thesis/memo', SCHEMA, { model });
const WHOLE = writeDocument(requestFor('offline/builder'), 'builder');
const GO_ON = { role: 'user', content: 'Go on from the exact last character.' } as const;

/** Asks to go on until the answer ends. */
async function readAll(provider: ModelProvider, request: ModelRequest): Promise<ModelResult[]> {
  const results: ModelResult[] = [];
  let messages = request.messages;
  for (;;) {
    const continues = results.length > 0;
    const result = await provider.generate({ ...request, messages, continues });
    results.push(result);
    if (result.finishReason !== 'length') return results;
    messages = [...messages, { role: 'assistant', content: result.text }, GO_ON];
  }
}

const joined = (results: readonly ModelResult[]): string =>
  results.map((result) => result.text).join('');

describe('an answer', () => {
  test('arrives in deltas that make up the text, with counted usage', async () => {
    const deltas: string[] = [];
    const request = requestFor('offline/builder');
    const result = await createOfflineProvider().generate(request, {
      onDelta: (delta) => deltas.push(delta),
    });
    expect(result).toMatchObject({ text: WHOLE, finishReason: 'stop' });
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.join('')).toBe(WHOLE);
    const counter = await loadTokenCounter();
    expect(result.usage.outputTokens).toBe(counter.count(request.model, WHOLE));
    expect(result.usage.inputTokens).toBe(counter.countRequest(request));
  });

  test('is reached by the prefix of its model id, without any configuration', async () => {
    const provider = createModelProvider(readModelsConfig({}));
    expect(await provider.generate(requestFor('offline/builder'))).toMatchObject({ text: WHOLE });
  });

  test('of an unknown persona is refused with the personas that there are', async () => {
    const call = createOfflineProvider().generate(requestFor('offline/poet'));
    await expect(call).rejects.toMatchObject({
      code: 'model_unknown',
      message: expect.stringContaining('builder, skeptic, steward'),
    });
  });
});

describe('a cut answer', () => {
  test.each([7, 40, 133])('of %i tokens is used to the last token', async (maxOutputTokens) => {
    const request = { ...requestFor('offline/builder'), maxOutputTokens };
    const result = await createOfflineProvider().generate(request);
    expect(result.finishReason).toBe('length');
    expect(result.usage.outputTokens).toBe(maxOutputTokens);
    expect(WHOLE.startsWith(result.text)).toBe(true);
  });

  test('goes on to the uncut text', async () => {
    const request = { ...requestFor('offline/builder'), maxOutputTokens: 61 };
    const results = await readAll(createOfflineProvider(), request);
    expect(results.length).toBeGreaterThan(3);
    expect(joined(results)).toBe(WHOLE);
  });

  test('goes on after a restart of the program', async () => {
    const fresh: ModelProvider = {
      generate: (request, options) => createOfflineProvider().generate(request, options),
    };
    const results = await readAll(fresh, requestFor('offline/builder?cut=350'));
    expect(results[0]!.text).toHaveLength(350);
    expect(joined(results)).toBe(WHOLE);
  });

  test('is given whole again where what was answered is not its beginning', async () => {
    const request = requestFor('offline/builder');
    const bad = { role: 'assistant', content: 'I would rather not.' } as const;
    const messages = [...request.messages, bad, { role: 'user', content: 'Wrong.' } as const];
    const result = await createOfflineProvider().generate({ ...request, messages });
    expect(result.text).toBe(WHOLE);
  });

  test('never ends within a character', async () => {
    const brief = '𠮷野家の注文をアプリで受け付ける必要があります。𠮷野家の在庫も見せます。';
    const request = buildRequest('thesis/memo', SCHEMA, { brief, model: 'offline/builder' });
    const provider = createOfflineProvider();
    const whole = await provider.generate(request);
    for (let cut = 240; cut < 300; cut++) {
      const model = `offline/builder?cut=${cut}`;
      const { text: part } = await provider.generate({ ...request, model });
      expect(part.isWellFormed()).toBe(true);
      expect(whole.text.startsWith(part)).toBe(true);
    }
  });
});

describe('told to fail', () => {
  test('the call of that number fails with a retryable error, the others do not', async () => {
    const provider = createOfflineProvider();
    const request = requestFor('offline/builder?fail=2');
    const first = await provider.generate(request);
    await expect(provider.generate(request)).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
    });
    const third = await provider.generate(request);
    expect([first.text, third.text]).toEqual([WHOLE, WHOLE]);
  });

  test('always means each call', async () => {
    const provider = createOfflineProvider();
    for (let call = 0; call < 3; call++) {
      const failing = provider.generate(requestFor('offline/builder?fail=always'));
      await expect(failing).rejects.toMatchObject({ code: 'provider_unavailable' });
    }
  });

  test('an answer is empty, or nothing that can be read as a document', async () => {
    const provider = createOfflineProvider();
    const request = requestFor('offline/builder?empty=1&badjson=2');
    expect(await provider.generate(request)).toMatchObject({ text: '', finishReason: 'stop' });
    const { text: bad } = await provider.generate(request);
    expect(bad).not.toMatch(/[{}"]/);
    expect(bad.length).toBeGreaterThan(WHOLE.length / 2);

    expect((await provider.generate(request)).text).toBe(WHOLE);
  });
});

describe('an abort', () => {
  test('before the call is an error', async () => {
    const signal = AbortSignal.abort();
    const call = createOfflineProvider().generate(requestFor('offline/builder'), { signal });
    await expect(call).rejects.toMatchObject({ code: 'provider_call_aborted' });
  });

  test('in the middle keeps what had arrived', async () => {
    const stop = new AbortController();
    const slept: number[] = [];
    const clock = { sleep: async (ms: number) => void slept.push(ms) };
    const provider = createOfflineProvider(clock);
    const result = await provider.generate(requestFor('offline/builder?delay=20'), {
      signal: stop.signal,
      onDelta: () => stop.abort(),
    });
    expect(slept).toEqual([20, 20]);
    expect(result.finishReason).toBe('interrupted');
    expect(result.error?.code).toBe('provider_call_aborted');
    expect(result.text).toBe(WHOLE.slice(0, result.text.length));
    expect(result.text.length).toBeGreaterThan(0);
  });
});
