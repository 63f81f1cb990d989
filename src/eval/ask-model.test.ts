import { describe, expect, test } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { readModelsConfig } from '../models/config.ts';
import type { ModelRequest, ModelResult } from '../models/types.ts';
import { askModel } from './ask-model.ts';
import { SpendingTally } from './spending.ts';
import { DRAFT_FILES, writeDraft } from './write-draft.ts';

const model = 'openai/priced';
const config = {
  ...readModelsConfig({}),
  models: { [model]: { price: { input: 1, output: 2 } } },
};
const usage = {
  inputTokens: 1_000,
  outputTokens: 500,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: false,
};
const raw = { finishReason: null, responseId: null, usage: null, warnings: [] };
const answer = (text: string, finishReason: ModelResult['finishReason'] = 'stop') => ({
  text,
  finishReason,
  usage,
  raw,
});

/** A provider that plays answers and errors in turn and remembers what it was asked. */
function play(script: readonly (ModelResult | DialecticError)[]) {
  const asked: ModelRequest[] = [];
  const provider = {
    async generate(request: ModelRequest) {
      asked.push(request);
      const next = script[asked.length - 1]!;
      if (next instanceof DialecticError) throw next;
      return next;
    },
  };
  return { asked, deps: { provider, config } };
}

const question = {
  model,
  system: 'You answer.',
  material: 'What is given.',
  prompt: 'Say it.',
  key: 'answer',
  contract: { type: 'object', required: ['said'], properties: { said: { type: 'string' } } },
};
const WHOLE = JSON.stringify({ said: 'Bread is baked at four in the morning, and sold at seven.' });

async function ask(script: readonly (ModelResult | DialecticError)[]) {
  const { asked, deps } = play(script);
  const tally = new SpendingTally();
  const content = await askModel(deps, question, tally).catch((error: unknown) => error);
  return { asked, content, spent: tally.sum() };
}

describe('askModel', () => {
  test('continues an answer that was cut off, from its last characters and without schema', async () => {
    const { asked, content, spent } = await ask([
      answer(WHOLE.slice(0, 30), 'length'),
      answer(WHOLE.slice(30)),
    ]);
    expect(content).toEqual(JSON.parse(WHOLE));
    expect(asked.map(({ continues }) => continues)).toEqual([false, true]);
    expect(asked[1]!.messages.at(-1)!.content).toContain(WHOLE.slice(10, 30));
    expect(spent).toMatchObject({ calls: 2, costUsd: 0.004 });
  });

  test('refuses by name an answer that never ends', async () => {
    const { content } = await ask([
      answer(WHOLE.slice(0, 30), 'length'),
      ...Array.from({ length: 5 }, () => answer('', 'length')),
    ]);
    expect(content).toMatchObject({ code: 'continuation_exhausted' });
  });

  test('asks once more for an answer that does not fit, then says what is wrong', async () => {
    const { asked, content, spent } = await ask([
      answer('{"other": 1}'),
      answer('{"said": "", "other": 1}'),
    ]);
    expect(asked[1]!.messages.at(-1)!.content).toContain('`said` is missing.');
    expect(content).toMatchObject({ code: 'model_output_invalid' });
    expect((content as Error).message).toContain(`${model}, answer: asked again`);
    expect((content as Error).message).toContain('`said` is empty');
    expect(spent.calls).toBe(2);
  });

  test('waits for a passing fault and counts what it cost', async () => {
    const details = { retryAfterMs: 1, usage };
    const fault = new DialecticError('provider_unavailable', 'Overloaded.', { details });
    const { content, spent } = await ask([fault, answer(WHOLE)]);
    expect(content).toEqual(JSON.parse(WHOLE));
    expect(spent).toMatchObject({ calls: 2, costUsd: 0.004 });
  });

  test('gives up at once where the key is refused', async () => {
    const { asked, content } = await ask([new DialecticError('provider_auth', 'Wrong key.')]);
    expect(content).toMatchObject({ code: 'provider_auth' });
    expect(asked.length).toBe(1);
  });
});

test('writeDraft asks again where a file is missing, and says which', async () => {
  const files = DRAFT_FILES.map((name) => ({ name, text: `# ${name}` }));
  const twice = [...files.slice(1), files[1]!];
  const { asked, deps } = play([
    answer(JSON.stringify({ files: twice })),
    answer(JSON.stringify({ files })),
  ]);
  const request = { model, brief: 'Bread </request>', words: 900 };
  const kept = await writeDraft(deps, request, new SpendingTally());
  expect([...kept.keys()]).toEqual(DRAFT_FILES);
  expect(asked[1]!.messages.at(-1)!.content).toContain(`${DRAFT_FILES[0]} is missing`);
  expect(asked[0]!.messages[0]!.content).toBe('<request>\nBread \u2039/request>\n</request>');
});
