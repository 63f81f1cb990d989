import { beforeAll, expect, test } from 'vitest';
import { chunkMarkdown } from '../../src/context/chunk-markdown.ts';
import { type Embedded, normalise } from '../../src/context/embedder.ts';
import { type Match, matchChunks, saveChunks, scanChunks } from '../../src/context/match-chunks.ts';
import { digestOf, saveVectors } from '../../src/context/memory.ts';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { describeOnBoth, newProject, openTestStore } from '../stores.ts';

const MODEL = 'test/64';
const SUBJECTS = 'oven dough price loaf mill courier salt rye permit noise tax lease'.split(' ');
const VERBS = 'needs costs refuses follows doubles delays'.split(' ');

/** A vector that is the same for the same text and tells nothing of its words. */
function vectorOf(text: string): Float32Array {
  const bytes = [digestOf(text), digestOf(text, '2')].join('').match(/../g) ?? [];
  return normalise(Float32Array.from(bytes, (byte) => Number.parseInt(byte, 16) - 127.5));
}
const embed = (text: string): Embedded => ({ text, vector: vectorOf(text) });

const wordOf = (words: readonly string[], at: number): string => words[at % words.length] ?? '';
const sentenceOf = (n: number): string =>
  `The ${wordOf(SUBJECTS, n)} ${wordOf(VERBS, n * 5)} the ${wordOf(SUBJECTS, n * 7 + 3)} in case ${n}.`;
const documents = Array.from({ length: 12 }, (_, document) =>
  Array.from(
    { length: 20 },
    (_line, at) => `## Part ${at}\n\n${sentenceOf(document * 20 + at)}`,
  ).join('\n\n'),
);
const questions = Array.from({ length: 15 }, (_, n) =>
  embed(
    `Which ${wordOf(SUBJECTS, n)} ${wordOf(VERBS, n)} a ${wordOf(SUBJECTS, n * 3 + 1)} in case ${n * 9}?`,
  ),
);

const placesOf = (matches: readonly Match[][]): string[][] =>
  matches.map((all) => all.map(({ item, place }) => `${item.slice(0, 8)}/${place}`));

const ranked = new Map<string, string[][]>();

describeOnBoth('the search for chunks', (kind) => {
  let database: Database;
  let tenantId: string;
  const sessionId = newId();
  beforeAll(async () => {
    database = await openTestStore(kind);
    const { projectId, ...place } = await newProject(database);
    ({ tenantId } = place);
    await database.asTenant(tenantId, async (tx) => {
      await tx.query('insert into sessions (tenant_id, id) values ($1, $2)', [tenantId, sessionId]);
      const chunked = documents.map((text) => [text, chunkMarkdown(text)] as const);
      await saveChunks(tx, { projectId, sessionId: null }, new Map(chunked));
      await saveChunks(tx, { projectId, sessionId }, new Map(chunked.slice(0, 3)));
      const texts = chunked.flatMap(([, chunks]) => chunks.map(({ text }) => text));
      const vectors = new Map(texts.map((text) => [digestOf(text), vectorOf(text)]));
      await saveVectors(tx, projectId, MODEL, vectors);
    });
  });
  const searchBoth = (search: { items?: string[]; sessionId?: string }) =>
    database.asTenant(tenantId, async (tx) => ({
      found: await matchChunks(tx, { model: MODEL, most: 10, ...search }, questions),
      scanned: await scanChunks(tx, { model: MODEL, most: 10, ...search }, questions),
    }));

  test('ranks as the exact scan does, by text and by session as well', async () => {
    const items = [2, 5, 7].map((at) => digestOf(documents[at]!));
    const session = new Set(documents.slice(0, 3).map((text) => digestOf(text)));
    const all = await searchBoth({});
    expect(all.found.every(({ length }) => length === 10)).toBe(true);
    const some = await searchBoth({ items });
    expect(some.found.flat().every(({ item }) => items.includes(item))).toBe(true);
    const own = await searchBoth({ sessionId });
    expect(new Set(own.found.flat().map(({ item }) => item))).toEqual(session);
    for (const { found, scanned } of [all, some, own]) {
      expect(placesOf(found)).toEqual(placesOf(scanned));
      for (const [at, match] of found.flat().entries()) {
        expect(match.score).toBeCloseTo(scanned.flat()[at]!.score, 9);
      }
    }
    ranked.set(kind, placesOf(all.found));
  });

  test('vectors of another model are not compared', async () => {
    const search = { model: 'test/other', most: 10 };
    const found = await database.asTenant(tenantId, (tx) => matchChunks(tx, search, questions));
    // By words alone the best has half of the score.
    for (const [best] of found) expect(best!.score).toBe(0.5);
  });
});

test('both databases rank alike, one with pgvector and one without', () => {
  expect(ranked.get('server')).toEqual(ranked.get('embedded'));
});
