import type { Database } from '../db/database.ts';
import { monitor } from '../platform/performance-monitor.ts';
import type { Chunk } from './chunk-markdown.ts';
import type { Embedded } from './embedder.ts';
import { digestOf, findEmbedded, readVectors } from './memory.ts';
import { highest, scoreChunks } from './rank-chunks.ts';
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
  /** Above so many parts only those are embedded that have most of the prompt's words. */
  readonly mostEmbedded?: number;
} & Reading;

/** How a long reading is watched and ended. */
export type Reading = {
  readonly signal?: AbortSignal | undefined;
  /** Is called before each batch: how many parts are read, of how many. */
  readonly onParts?: ((done: number, all: number) => void) | undefined;
};

/** Where vectors are kept, and what makes those that are missing. */
type Memory = Pick<Recollection, 'database' | 'tenantId' | 'embedder' | 'remember'>;

/** The chunks of all texts, and how much each is wanted. */
export type Ranked = {
  readonly chunks: readonly (Chunk & Embedded)[];
  readonly scores: readonly number[];
};

/**
 * So many parts are embedded for one prompt at most, which are about 900,000 characters: with a model
 * on this machine that takes up to two minutes.
 */
const MOST_EMBEDDED = 4_096;

/** Ranks the chunks of all texts by what the prompt asks for. */
export async function rankTexts(
  given: Recollection,
  chunked: ReadonlyMap<string, readonly Chunk[]>,
): Promise<Ranked> {
  const chunks = [...chunked.values()].flat();
  if (chunks.length === 0) return { chunks: [], scores: [] };
  const parts = chunks.map(({ text }) => text);
  const words = await WordIndex.over(parts, given.signal);
  const asked = questionsOf(given.prompt);
  const read = findWanted(words, asked, given.mostEmbedded).map((at) => parts[at] ?? '');
  const questions = await embedAll(given, asked, read);
  const vectors = await readTexts(given, read);
  const missing = new Float32Array();
  const embedded = chunks.map((chunk) => ({
    ...chunk,
    vector: vectors.get(chunk.text) ?? missing,
  }));
  return { chunks: embedded, scores: scoreChunks(words, embedded, questions) };
}

/**
 * The chunks that are embedded: all, or of more than `most` those that have most of the questions'
 * words, in turn the best of each question. The others are ranked by their words alone.
 */
export function findWanted(
  words: WordIndex,
  questions: readonly string[],
  most = MOST_EMBEDDED,
): readonly number[] {
  if (words.size <= most) return Array.from({ length: words.size }, (_, at) => at);
  const rankings = questions.map((question) => highest(words.match(question), most));
  const wanted = new Set<number>();
  for (let rank = 0; rank < most && wanted.size < most; rank++) {
    for (const ranking of rankings) {
      const at = ranking[rank];
      if (at !== undefined && wanted.size < most) wanted.add(at);
    }
  }
  return [...wanted];
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
