import { describe, expect, test } from 'vitest';
import { readModelsConfig } from '../config.ts';
import { createModelProvider } from '../provider.ts';
import { requireModels } from '../require-models.ts';
import type { CallSubject, ModelRequest } from '../types.ts';
import type { RecordedAnswer, Recording } from './recording.ts';

const usage = {
  inputTokens: 12,
  outputTokens: 5,
  cachedInputTokens: 2,
  cacheWriteTokens: 0,
  estimated: false,
};
const answer = (text: string, more: Partial<RecordedAnswer> = {}): RecordedAnswer => ({
  text,
  finishReason: 'stop',
  usage,
  costMicros: 70,
  ...more,
});

const subject = (more: Partial<CallSubject> = {}): CallSubject => ({
  stage: 'review',
  documentKey: 'critique',
  iteration: 1,
  lane: 2,
  about: [1],
  before: [],
  ...more,
});

const recording: Recording = {
  place: 'runs/bread',
  answersFor: ({ lane, about }) =>
    lane === 2 && about[0] === 1
      ? [answer('{"text":"cut he', { finishReason: 'length' }), answer('re and ended"}')]
      : [],
};

const slept: number[] = [];
function open(pace: number, fill: 'offline' | null = null) {
  const config = { ...readModelsConfig({}), recording: { recording, pace, fill } };
  slept.length = 0;
  const sleep = (ms: number): Promise<void> => Promise.resolve(void slept.push(ms));
  return createModelProvider(config, { clock: { nowMs: () => 0, sleep } });
}

const request = (asked: CallSubject, model = 'recorded/openai/gpt-5'): ModelRequest => ({
  model,
  system: '',
  messages: [{ role: 'user', content: 'Bread. The bakery opens at 6.' }],
  schema: {
    name: 'review__critique',
    schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  subject: asked,
});

describe('recorded/… answers', () => {
  test('with what was answered in the same place, call after call', async () => {
    const provider = open(0);
    const first = await provider.generate(request(subject()));
    expect(first).toMatchObject({
      text: '{"text":"cut he',
      finishReason: 'length',
      usage,
      origin: { kind: 'recording', costMicros: 70 },
    });
    const second = await provider.generate(request(subject({ before: [first.text] })));
    expect(second).toMatchObject({ text: 're and ended"}', finishReason: 'stop' });
  });

  test('with the rest of an answer of which a part was saved before a crash', async () => {
    const rest = await open(0).generate(request(subject({ before: ['{"text":'] })));
    expect(rest).toMatchObject({ text: '"cut he', finishReason: 'length' });
  });

  test('at its pace, which the id may set', async () => {
    const deltas: string[] = [];
    const onDelta = (text: string): void => void deltas.push(text);
    await open(100).generate(request(subject()), { onDelta });
    expect(deltas).toEqual(['{"tex', 't":"c', 'ut he']);
    expect(slept).toEqual([50, 50, 50]);
    deltas.length = 0;
    await open(100).generate(request(subject(), 'recorded/openai/gpt-5?pace=0'), { onDelta });
    expect([deltas, slept]).toEqual([['{"text":"cut he'], []]);
  });

  test('with what had arrived when it was stopped', async () => {
    const stop = new AbortController();
    const options = { signal: stop.signal, onDelta: () => stop.abort() };
    const stopped = await open(100).generate(request(subject()), options);
    expect(stopped).toMatchObject({ text: '{"tex', finishReason: 'interrupted' });
    expect(stopped.error?.code).toBe('provider_call_aborted');
  });

  test('to nothing that was not asked then, or was asked about another', async () => {
    for (const other of [{ about: [2] }, { lane: 1 }, { before: ['{"other":'] }]) {
      await expect(open(0).generate(request(subject(other)))).rejects.toMatchObject({
        code: 'answer_not_recorded',
        message: expect.stringMatching(/^review\/critique of participant \d.*runs\/bread.*--fill/),
      });
    }
  });

  test('by the offline author where that may fill in', async () => {
    const filled = await open(0, 'offline').generate(request(subject({ about: [2] })));
    expect(filled.origin).toEqual({ kind: 'offline' });
    expect(JSON.parse(filled.text)).toHaveProperty('text');
  });
});

test('recorded/… needs a recording, and knows no other option than pace', () => {
  const config = readModelsConfig({});
  const refused = (model: string): string => {
    try {
      requireModels([model], config);
      return 'accepted';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(refused('recorded/openai/gpt-5')).toBe('provider_not_configured');
  expect(refused('recorded/openai/gpt-5?pase=0')).toBe('model_unknown');
  expect(refused('recorded/openai/gpt-5?pace=fast')).toBe('model_unknown');
});
