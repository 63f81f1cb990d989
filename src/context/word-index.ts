import { Slices } from '../platform/clock.ts';
import { subjectWords } from './words.ts';

/** BM25 as usual; match_words in src/db/functions/match-chunks.sql has the same numbers. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** How many of a chunk's rarest words tell how singular it is. */
const RAREST = 12;

/** Word statistics of chunks: how well they match a question, how rare what they say is. */
export class WordIndex {
  readonly #sizes: number[] = [];
  #total = 0;
  /** For each word the chunks that have it, with how often. */
  readonly #places = new Map<string, Map<number, number>>();

  constructor(texts: readonly string[]) {
    for (const text of texts) this.#add(text);
  }

  /** The same for many chunks, a few at a time: whatever else the process does goes on meanwhile. */
  static async over(texts: readonly string[], signal?: AbortSignal): Promise<WordIndex> {
    const index = new WordIndex([]);
    const slices = new Slices();
    for (const text of texts) {
      signal?.throwIfAborted();
      index.#add(text);
      await slices.rest();
    }
    return index;
  }

  /** How many chunks there are. */
  get size(): number {
    return this.#sizes.length;
  }

  #add(text: string): void {
    const at = this.#sizes.length;
    const words = subjectWords(text);
    this.#sizes.push(words.length);
    this.#total += words.length;
    for (const word of words) {
      const counts = this.#places.get(word) ?? new Map<number, number>();
      counts.set(at, (counts.get(at) ?? 0) + 1);
      this.#places.set(word, counts);
    }
  }

  /** BM25 of each chunk for a question, as a share of what its words could come to. */
  match(question: string): Float64Array {
    const result = new Float64Array(this.#sizes.length);
    const words = [...new Set(subjectWords(question))];
    const mean = Math.max(1, this.#total / Math.max(1, this.#sizes.length));
    const most = words.reduce((sum, word) => sum + this.#rarity(word), 0) * (SATURATION + 1);
    for (const word of words) {
      for (const [at, count] of this.#places.get(word) ?? []) {
        const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * (this.#sizes[at] ?? 0)) / mean;
        const found = (count * (SATURATION + 1)) / (count + SATURATION * length);
        result[at] = (result[at] ?? 0) + (this.#rarity(word) * found) / most;
      }
    }
    return result;
  }

  /** How rare the rarest words of each chunk are among all: the outlier has the highest. */
  singularity(): Float64Array {
    const rarities = this.#sizes.map(() => [] as number[]);
    for (const [word, counts] of this.#places) {
      for (const at of counts.keys()) rarities[at]?.push(this.#rarity(word));
    }
    return Float64Array.from(rarities, (all) => {
      const top = all.toSorted((a, b) => b - a).slice(0, RAREST);
      return top.reduce((sum, one) => sum + one, 0) / RAREST;
    });
  }

  #rarity(word: string): number {
    const holders = this.#places.get(word)?.size ?? 0;
    return Math.log(1 + (this.#sizes.length - holders + 0.5) / (holders + 0.5));
  }
}
