import { beforeAll, expect, test } from 'vitest';
import { lexicalEmbedder } from '../../src/context/lexical-embedder.ts';
import type { Database } from '../../src/db/database.ts';
import { newProject, openTestStore } from '../stores.ts';
import { fitAny, fitInto, type Prompt, toAssembly } from './fit-any.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestStore('server');
});

test('any prompt fits untouched where it may not be touched, or is refused by name', async () => {
  await fitAny(database, 60, 1);
}, 60_000);

test('an identical run and further turns of an answer embed nothing', async () => {
  const { tenantId, projectId } = await newProject(database);
  const asked: string[] = [];
  const embedder = {
    model: 'test/counting',
    embed: (texts: readonly string[]) => {
      asked.push(...texts);
      return lexicalEmbedder.embed(texts);
    },
  };
  const documents = ['oven', 'permit', 'lease'].map((word) =>
    Array.from({ length: 120 }, (_, n) => `The ${word} of case ${n} costs ${n * 7} euros.`).join(
      '\n\n',
    ),
  );
  const parts = Array.from(
    { length: 6 },
    (_, n) => `Part ${n}. ${`It says ${n} again. `.repeat(20)}`,
  );
  const fitTurn = (turns: number) => {
    const written = parts.slice(0, turns);
    const prompt = { brief: 'Bake.', documents, feedback: null, written, kind: 'continue' };
    const assembled = toAssembly({ ...prompt, windowTokens: 1 } as Prompt, projectId);
    return fitInto(database, tenantId, assembled, 3_400, embedder);
  };
  const first = await fitTurn(0);
  expect(first.shortened.length).toBeGreaterThan(0);
  expect(asked.length).toBeGreaterThan(50);
  asked.length = 0;
  const again = await fitTurn(0);
  expect(again.request.messages).toEqual(first.request.messages);
  for (const turns of [1, 2, 4, 6]) {
    expect((await fitTurn(turns)).shortened.length).toBeGreaterThan(0);
  }
  expect(asked).toEqual([]);
}, 60_000);
