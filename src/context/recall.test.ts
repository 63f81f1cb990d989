import { beforeAll, expect, test } from 'vitest';
import { newProject, openTestStore } from '../../test/stores.ts';
import type { Database } from '../db/database.ts';
import type { Embedder } from './embedder.ts';
import { lexicalEmbedder } from './lexical-embedder.ts';
import { Recall } from './recall.ts';
import { rememberWith } from './remember-with.ts';

let database: Database;
let tenantId: string;
let projectId: string;
beforeAll(async () => {
  database = await openTestStore('embedded');
  ({ tenantId, projectId } = await newProject(database));
});

const documentOf = (n: number): string =>
  Array.from(
    { length: 12 },
    (_, at) =>
      `## Part ${at}\n\nDocument ${n} says in part ${at} that oven ${n * at} bakes ${at} loaves.`,
  ).join('\n\n');
const documents = Array.from({ length: 40 }, (_, n) => documentOf(n));

/** Words alone, with a count of the texts that it was asked to embed. */
function counting() {
  const asked: string[] = [];
  const embedder: Embedder = {
    ...lexicalEmbedder,
    embed: (texts) => {
      asked.push(...texts);
      return lexicalEmbedder.embed(texts);
    },
  };
  return { asked, embedder };
}

const recall = (
  embedder: Embedder,
  texts: readonly string[],
  options: { mostEmbedded?: number } = {},
) =>
  Recall.over(
    {
      database,
      tenantId,
      projectId,
      sessionId: null,
      embedder,
      remember: rememberWith({ database, tenantId, projectId }, embedder),
      ...options,
      prompt: 'How many loaves does oven 35 bake?',
      count: (text) => text.length,
    },
    texts,
  );

test('the same texts are embedded once, and after an edit only what was edited', async () => {
  const first = counting();
  const short = await (await recall(first.embedder, documents)).shorten(documents[7]!, 300);
  expect(first.asked.length).toBe(new Set(first.asked).size);
  expect(short.length).toBeLessThanOrEqual(300);
  expect(short).toContain('oven 35 ');

  const second = counting();
  expect(await (await recall(second.embedder, documents)).shorten(documents[7]!, 300)).toBe(short);
  expect(second.asked).toEqual([]);

  const edited = documents.with(3, documents[3]!.replace('part 4 that', 'part 4 now that'));
  const third = counting();
  await recall(third.embedder, edited);
  expect(third.asked).toHaveLength(1);
  expect(third.asked[0]).toContain('part 4 now that');
});

test('vectors of another model are not taken', async () => {
  const { asked, embedder } = counting();
  await recall({ ...embedder, model: 'other/1' }, documents.slice(0, 1));
  expect(asked.length).toBeGreaterThan(5);
});

test('of many parts those with the words of the prompt are embedded, and the others are ranked, too', async () => {
  const { asked, embedder } = counting();
  const few = await recall({ ...embedder, model: 'few/1' }, documents, { mostEmbedded: 20 });
  // The question and twenty parts.
  expect(asked).toHaveLength(21);
  expect(await few.shorten(documents[7]!, 300)).toContain('oven 35 ');
  expect(few.deal(1_000_000).get(documents[3]!)).toBeGreaterThan(documents[3]!.length / 2);
});
