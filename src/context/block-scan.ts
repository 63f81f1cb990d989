import { highest } from './rank-chunks.ts';
import { subjectWords } from './words.ts';

/** A stretch of one of the texts that were scanned. */
export type Block = { readonly text: number; readonly start: number; readonly end: number };

/** In characters: a block ends with the first paragraph behind `LEAST`, at the latest at `MOST`. */
const LEAST = 1_200;
const MOST = 2_400;
/** BM25 with the numbers of WordIndex. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

const LETTER = 1;
const DIGIT = 2;

/**
 * Ranks blocks of long texts by the words of questions (BM25) in one pass over their characters. It
 * keeps no text and no index, only how often each block has a word that is asked for: some 50 bytes
 * for a thousand characters, where a WordIndex takes as much memory as the text several times over.
 */
export class BlockScan {
  /** For each question the numbers of its words. */
  readonly #questions: readonly (readonly number[])[];
  /** The number of a word by the hash of each form of it that a text may have. */
  readonly #numbers = new Map<number, number>();
  readonly #blocks: Block[] = [];
  readonly #sizes: number[] = [];
  /** For each word the blocks that have it, and how often each of them does. */
  readonly #holders: { readonly blocks: number[]; readonly times: number[] }[] = [];

  constructor(questions: readonly string[]) {
    const known = new Map<string, number>();
    this.#questions = questions.map((question) =>
      [...new Set(subjectWords(question))].map((word) => {
        const number = known.get(word) ?? known.size;
        known.set(word, number);
        return number;
      }),
    );
    for (const [word, number] of known) {
      this.#holders.push({ blocks: [], times: [] });
      for (const form of formsOf(word)) this.#numbers.set(hashOf(form), number);
    }
  }

  /** Adds the blocks of a text, which is known by its place in the list of texts. */
  add(text: string, place: number): void {
    for (let start = 0; start < text.length; ) {
      const end = endOfBlock(text, start);
      this.#blocks.push({ text: place, start, end });
      this.#countWords(text, start, end);
      start = end;
    }
  }

  /**
   * The blocks that have most of the questions' words, in turn the best of each question, until they
   * have so many characters. Where words decide nothing, the texts' beginnings come first.
   */
  best(mostCharacters: number): Block[] {
    const most = Math.ceil(mostCharacters / LEAST);
    const rankings = this.#questions.map((words) => highest(this.#score(words), most));
    const chosen = new Set<number>();
    let left = mostCharacters;
    const take = (at: number | undefined): void => {
      const block = at === undefined ? undefined : this.#blocks[at];
      if (at === undefined || block === undefined || chosen.has(at)) return;
      left -= block.end - block.start;
      if (left >= 0) chosen.add(at);
    };
    const deepest = Math.max(0, ...rankings.map(({ length }) => length));
    for (let rank = 0; rank < deepest && left > 0; rank++) {
      for (const ranking of rankings) take(ranking[rank]);
    }
    for (let at = 0; at < this.#blocks.length && left > 0; at++) take(at);
    return [...chosen].flatMap((at) => this.#blocks[at] ?? []);
  }

  #countWords(text: string, start: number, end: number): void {
    const block = this.#blocks.length - 1;
    let size = 0;
    let hash = EMPTY;
    let kind = 0;
    for (let at = start; at <= end; at++) {
      const code = at < end ? text.charCodeAt(at) : 32;
      const next = kindOf(text, at, code, kind, end);
      if (next !== kind && kind !== 0) {
        size += 1;
        const number = this.#numbers.get(hash >>> 0);
        if (number !== undefined) this.#count(number, block);
        hash = EMPTY;
      }
      if (next !== 0) hash = Math.imul(hash ^ LOWER[code]!, PRIME);
      kind = next;
    }
    this.#sizes.push(size);
  }

  #count(word: number, block: number): void {
    const holder = this.#holders[word];
    if (holder === undefined) return;
    const { blocks, times } = holder;
    if (blocks.at(-1) === block) times[times.length - 1]! += 1;
    else {
      blocks.push(block);
      times.push(1);
    }
  }

  /** BM25 of each block for the words of a question. */
  #score(words: readonly number[]): Float64Array {
    const { length: all } = this.#sizes;
    const mean = Math.max(1, this.#sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, all));
    const scores = new Float64Array(all);
    for (const word of words) {
      const { blocks, times } = this.#holders[word]!;
      const rarity = Math.log(1 + (all - blocks.length + 0.5) / (blocks.length + 0.5));
      for (let at = 0; at < blocks.length; at++) {
        const block = blocks[at]!;
        const count = times[at]!;
        const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * this.#sizes[block]!) / mean;
        const found = (count * (SATURATION + 1)) / (count + SATURATION * length);
        scores[block] = scores[block]! + rarity * found;
      }
    }
    return scores;
  }
}

/** Behind the first blank line, else the first line, sentence or word, that `MOST` leaves room for. */
function endOfBlock(text: string, start: number): number {
  if (text.length - start <= MOST) return text.length;
  const stretch = text.slice(start + LEAST, start + MOST);
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const found = stretch.indexOf(mark);
    if (found !== -1) return start + LEAST + found + mark.length;
  }
  // Never between the two halves of one sign.
  const last = text.charCodeAt(start + MOST - 1);
  return start + MOST - (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
}

/** A word of `subjectWords` as texts may have it: it takes off the endings of plurals. */
function formsOf(word: string): string[] {
  return [word, `${word}s`, ...(word.endsWith('y') ? [`${word.slice(0, -1)}ies`] : [])];
}

/** FNV-1a. */
const EMPTY = 0x811c9dc5;
const PRIME = 0x01000193;

function hashOf(word: string): number {
  let hash = EMPTY;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), PRIME);
  return hash >>> 0;
}

/** Whether a sign is part of a word or a number; a point or comma is where digits stand around it. */
function kindOf(text: string, at: number, code: number, before: number, end: number): number {
  const kind = KINDS[code]!;
  if (kind !== 0 || before !== DIGIT || (code !== 46 && code !== 44 && code !== 58)) return kind;
  return at + 1 < end && KINDS[text.charCodeAt(at + 1)] === DIGIT ? DIGIT : 0;
}

/** What each code unit is, and its small letter. A letter of two units counts as two letters. */
const KINDS = Uint8Array.from({ length: 1 << 16 }, (_, code) => {
  const sign = String.fromCharCode(code);
  if (/[\p{L}\p{M}\p{Cs}]/u.test(sign)) return LETTER;
  return /\p{N}/u.test(sign) ? DIGIT : 0;
});
const LOWER = Uint16Array.from({ length: 1 << 16 }, (_, code) =>
  String.fromCharCode(code).toLowerCase().charCodeAt(0),
);
