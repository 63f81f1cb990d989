import type { Database } from '../db/database.ts';
import { type Chunk, chunkMarkdown } from './chunk-markdown.ts';
import type { Embedder } from './embedder.ts';
import { digestOf, readShortened, readVectors, saveShortened, saveVectors } from './memory.ts';
import { byScore, dealRoom, type Embedded, scoreChunks, valueOf } from './rank-chunks.ts';
import { noticeSize, questionsOf, shortenText, sizeOf } from './shorten-text.ts';

/** Whose memory it is, and for what it is searched. */
type Recollection = {
  readonly database: Database;
  readonly tenantId: string;
  readonly projectId: string;
  readonly embedder: Embedder;
  readonly prompt: string;
  readonly count: (text: string) => number;
};

/** A text as a run of the chunks of all texts. */
type Span = { readonly from: number; readonly to: number };

/** Raised when texts are shortened in another way, so that none of the old ones is taken. */
const METHOD = '2';
/** Room is dealt in steps of 9 %, so that the turns of one answer share what was shortened. */
const STEPS_TO_DOUBLE = 8;

/**
 * Shortens texts for one prompt, with what was embedded and shortened before. A text is embedded
 * when it is first needed, and again only where its words have changed.
 */
export class Recall {
  readonly #given: Recollection;
  readonly #chunks: readonly (Chunk & Embedded)[];
  readonly #spans: ReadonlyMap<string, Span>;
  readonly #scores: readonly number[];
  readonly #sizes: readonly number[];
  /** All chunks, those first that are to be kept first. */
  #order: readonly number[];
  /** Of everything that the order depends on. */
  #digest: string;

  private constructor(
    given: Recollection,
    chunked: ReadonlyMap<string, readonly (Chunk & Embedded)[]>,
    questions: readonly Embedded[],
  ) {
    this.#given = given;
    this.#chunks = [...chunked.values()].flat();
    let from = 0;
    this.#spans = new Map(
      [...chunked].map(([text, { length }]) => [text, { from, to: (from += length) }]),
    );
    this.#scores = scoreChunks(this.#chunks, questions);
    this.#sizes = this.#chunks.map((chunk) => sizeOf(chunk, given.count));
    this.#order = byScore(this.#scores);
    const { embedder, prompt } = given;
    this.#digest = digestOf(METHOD, embedder.model, prompt, ...[...chunked.keys()].toSorted());
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
    return new Recall(
      given,
      new Map(chunked.map(([text, chunks]) => [text, chunks.map(add)])),
      questions.map((text) => add({ text })),
    );
  }

  /** How much a text has to say on the prompt, from 0 to about 1. */
  valueOf(text: string): number {
    const { from, to } = this.#spanOf(text);
    return valueOf(this.#scores.slice(from, to));
  }

  /**
   * Deals tokens to the parts that are wanted most and repeat each other least, over all texts;
   * by text, how many of them it gets.
   */
  deal(tokens: number): ReadonlyMap<string, number> {
    const notices = new Map(
      [...this.#spans].map(([text, { from, to }]) => [
        text,
        noticeSize(to - from, this.#given.count),
      ]),
    );
    const free = tokens - [...notices.values()].reduce((sum, size) => sum + size, 0);
    const room = roundDown(free);
    const { order, chosen } = dealRoom(this.#chunks, this.#scores, this.#sizes, room);
    this.#order = order;
    this.#digest = digestOf(this.#digest, String(room));
    return new Map(
      [...this.#spans].map(([text, { from, to }]) => {
        const own = this.#sizes.slice(from, to).filter((_, at) => chosen.has(from + at));
        const dealt = own.reduce((sum, size) => sum + size, 0);
        return [text, dealt === 0 ? 0 : dealt + (notices.get(text) ?? 0)];
      }),
    );
  }

  /** The text in at most so many tokens; stored before it is returned. */
  async shorten(text: string, most: number): Promise<string> {
    const { database, tenantId, projectId, count } = this.#given;
    const key = digestOf(this.#digest, text, String(most));
    const stored = await database.asTenant(tenantId, (tx) => readShortened(tx, [key]));
    const known = stored.get(key);
    if (known !== undefined) return known;
    const { from, to } = this.#spanOf(text);
    const short = shortenText({
      chunks: this.#chunks.slice(from, to),
      order: this.#order.filter((at) => at >= from && at < to).map((at) => at - from),
      sizes: this.#sizes.slice(from, to),
      most,
      count,
    });
    const made = new Map([[key, short]]);
    await database.asTenant(tenantId, (tx) => saveShortened(tx, projectId, made));
    return short;
  }

  #spanOf(text: string): Span {
    return this.#spans.get(text) ?? { from: 0, to: 0 };
  }
}

const roundDown = (tokens: number): number =>
  tokens < 1
    ? 0
    : Math.floor(2 ** (Math.floor(Math.log2(tokens) * STEPS_TO_DOUBLE) / STEPS_TO_DOUBLE));

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
