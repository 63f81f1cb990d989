import { expect, test } from 'vitest';
import { type Dialectic, openDialectic, type RunOptions } from '../../src/index.ts';
import { emptyDirectory } from '../stores.ts';

const run: RunOptions = {
  brief: `Should the library open on Sundays? ${'Two staff, 9,000 euros a year. '.repeat(20)}`,
  process: 'decision-memo',
  models: ['offline/builder', 'offline/skeptic'],
};

async function open(windowTokens: number): Promise<Dialectic> {
  const model = { windowTokens, maxOutputTokens: 2_000 };
  const models = { 'offline/builder': model, 'offline/skeptic': model };
  const dataDirectory = await emptyDirectory();
  const options = { dataDirectory, environment: {}, backupEveryMs: 0, configuration: { models } };
  return openDialectic(options);
}

async function workOn(dialectic: Dialectic, session: string) {
  for await (const _ of dialectic.work(session));
  return dialectic.result(session);
}

/** The prompts that were sent, by their paths in the folder. */
const promptsOf = async (dialectic: Dialectic, session: string) =>
  Object.entries(await dialectic.files(session)).filter(([path]) => path.endsWith('_prompt.md'));

test('a run in a window smaller than its prompts makes every document', async () => {
  await using dialectic = await open(4_300);
  const { session } = await dialectic.start(run);
  expect(await workOn(dialectic, session)).toMatchObject({ status: 'completed', calls: 10 });
  const prompts = await promptsOf(dialectic, session);
  const short = prompts.filter(([, text]) => text.includes('(Shortened to fit:'));
  expect(short.map(([path]) => path.split('/')[2])).toContain('4_decide');
  // The record of the answer tells what was left out of its prompt.
  const raw = Object.entries(await dialectic.files(session)).flatMap(([path, text]) =>
    path.includes('4_decide') && path.endsWith('_raw.json') ? [JSON.parse(text)] : [],
  );
  const told = raw.flatMap(({ shortened = [] }) => shortened);
  expect(told.length).toBeGreaterThan(0);
  for (const one of told) expect(one.after).toBeLessThan(one.tokens);
  // What may not be shortened stands in them to the byte: the request, and what the step asks for.
  for (const [, text] of short) {
    expect(text).toContain(run.brief);
    expect(text).toMatch(/\n\nDeliverable: \w+\/\w+/);
  }
}, 60_000);

test('where a task alone is too long, its document is asked for in portions', async () => {
  await using dialectic = await open(2_400);
  const { session } = await dialectic.start(run);
  const result = await workOn(dialectic, session);
  expect(result.status).toBe('completed');
  expect(result.documents).toHaveLength(10);
  const asked = await promptsOf(dialectic, session);
  const parts = asked.filter(([, text]) => text.includes('asked for in requests of their own'));
  expect(parts.length).toBeGreaterThan(0);
  for (const [, text] of parts) {
    expect(text).toContain(run.brief);
    expect(text).toMatch(
      /Write one JSON object with (this key|these keys) alone: [\w, ]+\. The other/,
    );
  }
}, 60_000);

test('a window too small for the instructions is refused by name, before any call', async () => {
  await using dialectic = await open(1_000);
  const { session } = await dialectic.start(run);
  const result = await workOn(dialectic, session);
  expect(result).toMatchObject({ status: 'failed', calls: 0 });
  expect(JSON.stringify(result)).toContain('context_window_exceeded');
}, 60_000);
