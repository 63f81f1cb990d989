import type { Database } from '../db/database.ts';
import { type Chunk, chunkMarkdown } from './chunk-markdown.ts';
import type { Embedder } from './embedder.ts';
import { digestOf, readShortened, readVectors, saveShortened, saveVectors } from './memory.ts';
import { dealRoom, type Embedded, scoreChunks, valueOf } from './rank-chunks.ts';
import { questionsOf, shortenText } from './shorten-text.ts';

/** Whose memory it is, and for what it is searched. */
type Recollection = {
  readonly database: Database;
  readonly tenantId: string;
  readonly projectId: string;
  readonly embedder: Embedder;
  readonly prompt: string;
  readonly count: (text: string) => number;
};

type Parts = { readonly chunks: readonly (Chunk & Embedded)[]; readonly scores: readonly number[] };

/** Raised when texts are shortened in another way, so that none of the old ones is taken. */
const METHOD = '1';

/**
 * Shortens texts for one prompt, with what was embedded and shortened before. A text is embedded
 * when it is first needed, and again only where its words have changed.
 */
export class Recall {
  readonly #given: Recollection;
  readonly #parts: ReadonlyMap<string, Parts>;
  /** Of everything that the scores depend on. */
  readonly #digest: string;

  private constructor(given: Recollection, parts: ReadonlyMap<string, Parts>) {
    this.#given = given;
    this.#parts = parts;
    const { embedder, prompt } = given;
    this.#digest = digestOf(METHOD, embedder.model, prompt, ...[...parts.keys()].toSorted());
  }

  /** Embeds what was not embedded before, and ranks the parts of all texts together. */
  static async over(given: Recollection, texts: readonly string[]): Promise<Recall> {
    const chunked = [...new Set(texts)].map((text) => [text, chunkMarkdown(text)] as const);
    const questions = questionsOf(given.prompt);
    const chunkTexts = chunked.flatMap(([, chunks]) => chunks.map(({ text }) => text));
    const vectors = await embed(given, [...new Set([...questions, ...chunkTexts])]);
    const add = <T extends { readonly text: string }>(one: T): T & Embedded => ({
      ...one,
      vector: vectors.get(one.text) ?? new Float32Array(given.embedder.dimensions),
    });
    const embedded = chunked.map(([text, chunks]) => [text, chunks.map(add)] as const);
    const asked = questions.map((text) => add({ text }));
    const scores = scoreChunks(
      embedded.flatMap(([, chunks]) => chunks),
      asked,
    );
    let from = 0;
    const parts = embedded.map(([text, chunks]): [string, Parts] => {
      const own = scores.slice(from, from + chunks.length);
      from += chunks.length;
      return [text, { chunks, scores: own }];
    });
    return new Recall(given, new Map(parts));
  }

  /** How much a text has to say on the prompt, from 0 to about 1. */
  valueOf(text: string): number {
    return valueOf(this.#parts.get(text)?.scores ?? []);
  }

  /** By text: how many of its tokens are among the most wanted that the room has a place for. */
  deal(room: number): ReadonlyMap<string, number> {
    const { count } = this.#given;
    const sized = [...this.#parts.values()].map(({ chunks, scores }) => ({
      sizes: chunks.map(({ text }) => count(text)),
      scores,
    }));
    const dealt = dealRoom(sized, room);
    return new Map([...this.#parts.keys()].map((text, at) => [text, dealt[at] ?? 0]));
  }

  /** The text in at most so many tokens; stored before it is returned. */
  async shorten(text: string, most: number): Promise<string> {
    const { database, tenantId, projectId, count } = this.#given;
    const key = digestOf(this.#digest, text, String(most));
    const stored = await database.asTenant(tenantId, (tx) => readShortened(tx, [key]));
    const known = stored.get(key);
    if (known !== undefined) return known;
    const { chunks, scores } = this.#parts.get(text) ?? { chunks: [], scores: [] };
    const short = shortenText({ chunks, scores, most, count });
    const made = new Map([[key, short]]);
    await database.asTenant(tenantId, (tx) => saveShortened(tx, projectId, made));
    return short;
  }
}

/** Vectors by text: those that were made before, and new ones, which are stored. */
async function embed(
  { database, tenantId, projectId, embedder }: Recollection,
  texts: readonly string[],
): Promise<ReadonlyMap<string, Float32Array>> {
  const digests = new Map(texts.map((text) => [text, digestOf(text)]));
  const known = await database.asTenant(tenantId, (tx) =>
    readVectors(tx, embedder, [...digests.values()]),
  );
  const missing = [...digests].filter(([, digest]) => !known.has(digest));
  if (missing.length > 0) {
    const made = await embedder.embed(missing.map(([text]) => text));
    const fresh = new Map(
      missing.flatMap(([, digest], at) => (made[at] ? [[digest, made[at]] as const] : [])),
    );
    await database.asTenant(tenantId, (tx) => saveVectors(tx, projectId, embedder, fresh));
    for (const [digest, vector] of fresh) known.set(digest, vector);
  }
  return new Map(
    [...digests].flatMap(([text, digest]) => {
      const vector = known.get(digest);
      return vector ? [[text, vector] as const] : [];
    }),
  );
}
