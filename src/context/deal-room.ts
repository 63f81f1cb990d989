import { type Embedded, likeness } from './embedder.ts';

/** How much being wanted counts against repeating what was chosen already. */
const WANTED = 0.75;
/** How many chunks may be too long for what is left before the room counts as full. */
const MOST_MISFITS = 12;
/**
 * Chunks that are compared with each other, and how many of them are chosen so; the rest is taken as
 * it is wanted. Without a bound the work would grow with the square of the texts.
 */
const MOST_COMPARED = 2_000;
const MOST_DIVERSE = 600;

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
  const ranked = byScore(scores);
  const chosen = new Set<number>();
  let left = room;
  let misfits = 0;
  const take = (at: number): void => {
    const size = value(sizes, at);
    if (size > left) misfits += 1;
    else {
      left -= size;
      chosen.add(at);
    }
  };
  const compared = ranked.slice(0, MOST_COMPARED);
  const diverse = chooseDiverse(
    compared.map((at) => chunks[at] ?? NOTHING),
    compared.map((at) => value(scores, at)),
  );
  for (const index of diverse) {
    if (misfits > MOST_MISFITS || chosen.size >= MOST_DIVERSE) break;
    take(value(compared, index));
  }
  for (const at of ranked) {
    if (misfits > MOST_MISFITS) break;
    if (!chosen.has(at)) take(at);
  }
  return { order: [...new Set([...chosen, ...ranked])], chosen };
}

const NOTHING: Embedded = { text: '', vector: new Float32Array() };

/** The chunks by their scores, the highest first. */
export const byScore = (scores: readonly number[]): number[] =>
  [...scores.keys()].toSorted((a, b) => value(scores, b) - value(scores, a) || a - b);

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

const value = (numbers: readonly number[], at: number): number => numbers[at] ?? 0;
