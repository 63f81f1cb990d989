import type { Database } from '../db/database.ts';
import { monitor } from '../platform/performance-monitor.ts';
import type { Chunk } from './chunk-markdown.ts';
import type { Embedded } from './embedder.ts';
import { matchChunks, saveChunks } from './match-chunks.ts';
import { digestOf, findEmbedded, readVectors } from './memory.ts';
import { addOutliers, scoreChunks } from './rank-chunks.ts';
import { questionsOf } from './shorten-text.ts';
import { WordIndex } from './word-index.ts';

/** Texts by their digests. */
type Texts = ReadonlyMap<string, string>;

/** Whose memory it is, and for what it is searched. */
export type Recollection = {
  readonly database: Database;
  readonly tenantId: string;
  readonly projectId: string;
  /** The session that reads; null for none. */
  readonly sessionId: string | null;
  readonly embedder: { readonly model: string };
  /** Embeds texts and stores their vectors. */
  readonly remember: (texts: Texts) => Promise<void>;
  readonly prompt: string;
  readonly count: (text: string) => number;
  /** Above so many numbers vectors are compared in the database and not in this process. */
  readonly mostNumbers?: number;
};

/** Where vectors are kept, and what makes those that are missing. */
type Memory = Pick<Recollection, 'database' | 'tenantId' | 'embedder' | 'remember'>;

/** The chunks of all texts, and how much each is wanted. */
export type Ranked = {
  readonly chunks: readonly (Chunk & Embedded)[];
  readonly scores: readonly number[];
};

/**
 * 160 MB of vectors: 100,000 chunks of 384 dimensions, which are more than 20 million characters. A
 * question takes some 20 ms of them here, and a second in PGlite.
 */
const MOST_NUMBERS = 40_000_000;
/** How many chunks a question gets from the database. */
const MOST_MATCHES = 100;

/** Ranks the chunks of all texts by what the prompt asks for. */
export async function rankTexts(
  given: Recollection,
  chunked: ReadonlyMap<string, readonly Chunk[]>,
): Promise<Ranked> {
  const chunks = [...chunked.values()].flat();
  if (chunks.length === 0) return { chunks: [], scores: [] };
  const parts = chunks.map(({ text }) => text);
  const questions = await embedAll(given, questionsOf(given.prompt), parts);
  const dimensions = questions[0]?.vector.length ?? 0;
  if (chunks.length * dimensions > (given.mostNumbers ?? MOST_NUMBERS)) {
    return rankInDatabase(given, chunked, questions);
  }
  const embedded = await withVectors(given, chunks);
  return { chunks: embedded, scores: scoreChunks(embedded, questions) };
}

/** The same by `match_chunks`: of the vectors only those of matches come into this process. */
async function rankInDatabase(
  given: Recollection,
  chunked: ReadonlyMap<string, readonly Chunk[]>,
  questions: readonly Embedded[],
): Promise<Ranked> {
  const { database, tenantId, embedder } = given;
  const keys = [...chunked].flatMap(([text, { length }]) => {
    const item = digestOf(text);
    return Array.from({ length }, (_, place) => `${item}/${place}`);
  });
  const matches = await database.asTenant(tenantId, async (tx) => {
    await saveChunks(tx, given, chunked);
    const items = [...chunked.keys()].map((text) => digestOf(text));
    return matchChunks(tx, { model: embedder.model, items, most: MOST_MATCHES }, questions);
  });
  const places = new Map(keys.map((key, at) => [key, at]));
  const served = matches.map((all) => {
    const scores = new Float64Array(keys.length);
    for (const { item, place, score } of all) scores[places.get(`${item}/${place}`) ?? 0] = score;
    return scores;
  });
  const chunks = [...chunked.values()].flat();
  const scores = addOutliers(new WordIndex(chunks.map(({ text }) => text)), served);
  const matched = new Set(matches.flat().map(({ body }) => body));
  const vectors = await readTexts(given, [...matched]);
  const missing = new Float32Array();
  return {
    chunks: chunks.map((chunk) => ({ ...chunk, vector: vectors.get(chunk.text) ?? missing })),
    scores,
  };
}

/** The questions with their vectors, once they and the parts of the texts are embedded. */
export async function embedAll(
  given: Memory,
  questions: readonly string[],
  parts: readonly string[],
): Promise<Embedded[]> {
  await rememberMissing(given, [...questions, ...parts]);
  return withVectors(
    given,
    questions.map((text) => ({ text })),
  );
}

/** Embeds what was not embedded before. */
async function rememberMissing(
  { database, tenantId, embedder, remember }: Memory,
  texts: readonly string[],
): Promise<void> {
  const digests = new Map(texts.map((text) => [digestOf(text), text]));
  const known = await database.asTenant(tenantId, (tx) =>
    findEmbedded(tx, embedder.model, [...digests.keys()]),
  );
  const missing = [...digests].filter(([digest]) => !known.has(digest));
  monitor.count('embeddings', digests.size - missing.length, missing.length);
  if (missing.length > 0) await remember(new Map(missing));
}

async function withVectors<T extends { readonly text: string }>(
  given: Memory,
  all: readonly T[],
): Promise<(T & Embedded)[]> {
  const vectors = await readTexts(
    given,
    all.map(({ text }) => text),
  );
  const missing = new Float32Array();
  return all.map((one) => ({ ...one, vector: vectors.get(one.text) ?? missing }));
}

/** Vectors by text. */
async function readTexts(
  { database, tenantId, embedder }: Memory,
  texts: readonly string[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const digests = new Map(texts.map((text) => [digestOf(text), text]));
  const vectors = await database.asTenant(tenantId, (tx) =>
    readVectors(tx, embedder.model, [...digests.keys()]),
  );
  return new Map([...vectors].map(([digest, vector]) => [digests.get(digest) ?? '', vector]));
}
