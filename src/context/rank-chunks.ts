import { likeness } from './embedder.ts';
import { subjectWords } from './words.ts';

/** A text with its vector. */
export type Embedded = { readonly text: string; readonly vector: Float32Array };

/** The constant of reciprocal rank fusion: how little the first places differ. */
const RANK_OFFSET = 10;
/** BM25 as usual. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
/** How much being wanted counts against repeating what was chosen already. */
const WANTED = 0.75;
/** How much being singular, and dissenting, counts beside serving a question. */
const SINGULAR = 0.1;
const DISSENTING = 0.05;
/** How many of a chunk's rarest words tell how singular it is. */
const RAREST = 12;
/** What disagreement is written with. */
const DISSENT = 'but however instead although disagree conflict contradict objection risk wrong';

/**
 * How much each chunk is wanted, by the question that it serves best: its places in the ranking by
 * meaning and in the one by words, fused by their reciprocals. All questions count the same: weighed
 * by what their best chunks have to say, those in other words than the text's lost theirs (2 % of the
 * facts of `npm run bench retrieval`). What is singular and what dissents is wanted without a question, too.
 */
export function scoreChunks(chunks: readonly Embedded[], questions: readonly Embedded[]): number[] {
  const words = new WordIndex(chunks.map(({ text }) => text));
  const singular = places(words.singularity());
  const dissent = places(words.match(DISSENT));
  const scores = chunks.map(
    (_, at) => SINGULAR * value(singular, at) + DISSENTING * value(dissent, at),
  );
  const best = chunks.map(() => 0);
  for (const question of questions) {
    const meanings = chunks.map(({ vector }) => likeness(vector, question.vector));
    const matches = words.match(question.text);
    const [byMeaning, byWords] = [places(meanings), places(matches)];
    for (const at of chunks.keys()) {
      const served = (value(byMeaning, at) + value(byWords, at)) / 2;
      best[at] = Math.max(value(best, at), served);
    }
  }
  return scores.map((score, at) => score + value(best, at));
}

/** What a text with chunks of these scores is worth: the mean of its three most wanted. */
export function valueOf(scores: readonly number[]): number {
  const best = scores.toSorted((a, b) => b - a).slice(0, 3);
  return best.reduce((sum, score) => sum + score, 0) / Math.max(1, best.length);
}

/** How many chunks may be too long for what is left before the room counts as full. */
const MOST_MISFITS = 12;

/** What the room has a place for. */
export type Deal = {
  /** All chunks in the order in which they are to be kept; those that the room holds come first. */
  readonly order: readonly number[];
  readonly chosen: ReadonlySet<number>;
};

/**
 * Deals the room to the chunks of all texts at once, so that a text of which much is wanted may stay
 * longer than one of which little is, and what one text repeats of another takes no room.
 */
export function dealRoom(
  chunks: readonly Embedded[],
  scores: readonly number[],
  sizes: readonly number[],
  room: number,
): Deal {
  const chosen = new Set<number>();
  const order = new Set<number>();
  let left = room;
  let misfits = 0;
  for (const at of chooseDiverse(chunks, scores)) {
    const size = value(sizes, at);
    if (size > left && ++misfits > MOST_MISFITS) break;
    if (size > left) continue;
    left -= size;
    chosen.add(at);
    order.add(at);
  }
  for (const at of byScore(scores)) order.add(at);
  return { order: [...order], chosen };
}

/** The chunks by their scores, the highest first. */
export const byScore = (scores: readonly number[]): number[] =>
  [...scores.keys()].toSorted((a, b) => value(scores, b) - value(scores, a) || a - b);

/** For each measured value its reciprocal rank, 1 for the highest; 0 where there is nothing. */
function places(measured: readonly number[]): number[] {
  const result = measured.map(() => 0);
  const order = [...measured.keys()]
    .filter((at) => value(measured, at) > 0)
    .toSorted((a, b) => value(measured, b) - value(measured, a) || a - b);
  for (const [rank, at] of order.entries()) result[at] = RANK_OFFSET / (RANK_OFFSET + rank);
  return result;
}

const value = (numbers: readonly number[], at: number): number => numbers[at] ?? 0;

/** Word statistics of chunks: how well they match a question, how rare what they say is. */
class WordIndex {
  readonly #sizes: readonly number[];
  readonly #mean: number;
  /** For each word the chunks that have it, with how often. */
  readonly #places = new Map<string, Map<number, number>>();

  constructor(texts: readonly string[]) {
    const all = texts.map(subjectWords);
    this.#sizes = all.map((words) => words.length);
    this.#mean = Math.max(1, all.flat().length / Math.max(1, all.length));
    for (const [at, words] of all.entries()) {
      for (const word of words) {
        const counts = this.#places.get(word) ?? new Map<number, number>();
        counts.set(at, (counts.get(at) ?? 0) + 1);
        this.#places.set(word, counts);
      }
    }
  }

  /** BM25 of each chunk for a question, as a share of what its words could come to. */
  match(question: string): number[] {
    const result = this.#sizes.map(() => 0);
    const words = [...new Set(subjectWords(question))];
    const most = words.reduce((sum, word) => sum + this.#rarity(word), 0) * (SATURATION + 1);
    for (const word of words) {
      for (const [at, count] of this.#places.get(word) ?? []) {
        const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * value(this.#sizes, at)) / this.#mean;
        const found = (count * (SATURATION + 1)) / (count + SATURATION * length);
        result[at] = value(result, at) + (this.#rarity(word) * found) / most;
      }
    }
    return result;
  }

  /** How rare the rarest words of each chunk are among all: the outlier has the highest. */
  singularity(): number[] {
    const rarities = this.#sizes.map(() => [] as number[]);
    for (const [word, counts] of this.#places) {
      for (const at of counts.keys()) rarities[at]?.push(this.#rarity(word));
    }
    return rarities.map((all) => {
      const top = all.toSorted((a, b) => b - a).slice(0, RAREST);
      return top.reduce((sum, one) => sum + one, 0) / RAREST;
    });
  }

  #rarity(word: string): number {
    const holders = this.#places.get(word)?.size ?? 0;
    return Math.log(1 + (this.#sizes.length - holders + 0.5) / (holders + 0.5));
  }
}

/**
 * The chunks in the order in which they are to be kept: the most wanted first, then each time the
 * one that is wanted and least like what was taken before (maximal marginal relevance). What a chunk
 * adds only falls as others are taken, so a chunk is compared with them no sooner than it leads.
 */
export function* chooseDiverse(
  chunks: readonly Embedded[],
  scores: readonly number[],
): Generator<number> {
  const top = Math.max(...scores, Number.MIN_VALUE);
  const wanted = scores.map((score) => (WANTED * score) / top);
  const nearest = chunks.map(() => 0);
  const seen = chunks.map(() => 0);
  const taken: Float32Array[] = [];
  const marginal = (at: number): number => value(wanted, at) - (1 - WANTED) * value(nearest, at);
  const queue = new Queue((a, b) => marginal(b) - marginal(a) || a - b, [...chunks.keys()]);
  for (let at = queue.first(); at !== undefined; at = queue.first()) {
    const { vector } = chunks[at] ?? { vector: new Float32Array() };
    if (value(seen, at) === taken.length) {
      queue.drop();
      taken.push(vector);
      yield at;
      continue;
    }
    for (const other of taken.slice(value(seen, at))) {
      nearest[at] = Math.max(value(nearest, at), likeness(vector, other));
    }
    seen[at] = taken.length;
    queue.sink();
  }
}

/** A binary heap of which only the first may get worse. */
class Queue {
  readonly #items: number[];
  readonly #compare: (a: number, b: number) => number;

  constructor(compare: (a: number, b: number) => number, items: readonly number[]) {
    this.#compare = compare;
    this.#items = items.toSorted(compare);
  }

  first(): number | undefined {
    return this.#items[0];
  }

  drop(): void {
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return;
    this.#items[0] = last;
    this.sink();
  }

  /** Puts the first where it belongs now. */
  sink(): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const best = this.#better(this.#better(at, left), right);
      if (best === at) return;
      const [one, other] = [items[at], items[best]];
      if (one === undefined || other === undefined) return;
      items[at] = other;
      items[best] = one;
      at = best;
    }
  }

  #better(a: number, b: number): number {
    const [one, other] = [this.#items[a], this.#items[b]];
    if (other === undefined) return a;
    return one === undefined || this.#compare(other, one) < 0 ? b : a;
  }
}
