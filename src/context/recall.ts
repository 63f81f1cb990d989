import { Slices } from '../platform/clock.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { type Chunk, chunkMarkdown } from './chunk-markdown.ts';
import { byScore, dealRoom } from './deal-room.ts';
import type { Embedded } from './embedder.ts';
import { digestOf, readShortened, saveShortened } from './memory.ts';
import { valueOf } from './rank-chunks.ts';
import { type Ranked, type Recollection, rankTexts } from './rank-texts.ts';
import { noticeSize, shortenText, sizeOf } from './shorten-text.ts';

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
  #dealt: ReadonlyMap<string, number> = new Map();
  #orders: ReadonlyMap<string, readonly number[]> | undefined;
  #stored: Promise<ReadonlyMap<string, string>> | undefined;
  readonly #made = new Map<string, string>();

  private constructor(
    given: Recollection,
    chunked: ReadonlyMap<string, readonly Chunk[]>,
    { chunks, scores }: Ranked,
    sizes: readonly number[],
  ) {
    this.#given = given;
    this.#chunks = chunks;
    let from = 0;
    this.#spans = new Map(
      [...chunked].map(([text, { length }]) => [text, { from, to: (from += length) }]),
    );
    this.#scores = scores;
    this.#sizes = sizes;
    this.#order = byScore(scores);
    const { embedder, prompt } = given;
    this.#digest = digestOf(METHOD, embedder.model, prompt, ...[...chunked.keys()].toSorted());
  }

  /** Embeds what was not embedded before, and ranks the parts of all texts together. */
  static async over(given: Recollection, texts: readonly string[]): Promise<Recall> {
    const slices = new Slices();
    const chunked = new Map<string, readonly Chunk[]>();
    for (const text of new Set(texts)) {
      given.signal?.throwIfAborted();
      chunked.set(text, chunkMarkdown(text));
      await slices.rest();
    }
    const ranked = await rankTexts(given, chunked);
    const sizes: number[] = [];
    for (const chunk of ranked.chunks) {
      sizes.push(sizeOf(chunk, given.count));
      await slices.rest();
    }
    return new Recall(given, chunked, ranked, sizes);
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
    this.#orders = undefined;
    this.#digest = digestOf(this.#digest, String(room));
    this.#dealt = new Map(
      [...this.#spans].map(([text, { from, to }]) => {
        const own = this.#sizes.slice(from, to).filter((_, at) => chosen.has(from + at));
        const dealt = own.reduce((sum, size) => sum + size, 0);
        return [text, dealt === 0 ? 0 : dealt + (notices.get(text) ?? 0)];
      }),
    );
    this.#stored = undefined;
    return this.#dealt;
  }

  /** The text in at most so many tokens; `save` stores it. */
  async shorten(text: string, most: number): Promise<string> {
    this.#stored ??= this.#readStored();
    const key = this.#keyOf(text, most);
    const known = (await this.#stored).get(key) ?? this.#made.get(key);
    monitor.count('compression', known === undefined ? 0 : 1, known === undefined ? 1 : 0);
    if (known !== undefined) return known;
    const { from, to } = this.#spanOf(text);
    this.#orders ??= this.#orderByText();
    const short = shortenText({
      chunks: this.#chunks.slice(from, to),
      order: this.#orders.get(text) ?? [],
      sizes: this.#sizes.slice(from, to),
      most,
      count: this.#given.count,
    });
    this.#made.set(key, short);
    return short;
  }

  /** Stores what was shortened, in one transaction for all texts. */
  async save(): Promise<void> {
    const { database, tenantId, projectId } = this.#given;
    const made = new Map(this.#made);
    if (made.size === 0) return;
    await database.asTenant(tenantId, (tx) => saveShortened(tx, projectId, made));
  }

  /** What was shortened before to the sizes that were dealt now, in one query for all texts. */
  #readStored(): Promise<ReadonlyMap<string, string>> {
    const { database, tenantId } = this.#given;
    const keys = [...this.#dealt].map(([text, tokens]) => this.#keyOf(text, tokens));
    return database.asTenant(tenantId, (tx) => readShortened(tx, keys));
  }

  #keyOf(text: string, most: number): string {
    return digestOf(this.#digest, text, String(most));
  }

  /** The order of each text's own chunks, by their places in it. */
  #orderByText(): ReadonlyMap<string, readonly number[]> {
    const owners = [...this.#spans].flatMap(([text, { from, to }]) =>
      Array.from({ length: to - from }, () => ({ text, from })),
    );
    const orders = new Map([...this.#spans.keys()].map((text) => [text, [] as number[]]));
    for (const at of this.#order) {
      const { text = '', from = 0 } = owners[at] ?? {};
      orders.get(text)?.push(at - from);
    }
    return orders;
  }

  #spanOf(text: string): Span {
    return this.#spans.get(text) ?? { from: 0, to: 0 };
  }
}

const roundDown = (tokens: number): number =>
  tokens < 1
    ? 0
    : Math.floor(2 ** (Math.floor(Math.log2(tokens) * STEPS_TO_DOUBLE) / STEPS_TO_DOUBLE));
