import type { Level } from './levels.ts';

/** What speaks for showing a source in detail, each from 0 to 1. */
export type Attention = {
  /** How well its text answers what the prompt asks, as the vector search ranks it. */
  readonly relevance: number;
  /** How often documents cite it, beside the source that is cited most. */
  readonly use: number;
  /** How lately it was admitted or cited. */
  readonly recency: number;
  /** How well it serves the objective of the whole session. */
  readonly objective: number;
};

/**
 * A source that may be shown in detail, with what levels 0 and 1 of it take. Its sizes are asked for
 * only when it is drawn.
 */
export type Candidate = {
  readonly id: string;
  readonly attention: Attention;
  readonly sizes: readonly [full: number, key: number];
};

/** Relevance outweighs each of the others, and no two of them together outweigh it by much. */
const WEIGHTS: Readonly<Record<keyof Attention, number>> = {
  relevance: 0.45,
  objective: 0.25,
  use: 0.15,
  recency: 0.15,
};
/** Low enough that weak sources are drawn seldom, high enough that calls do not all show the same. */
const TEMPERATURE = 0.3;
/** Sources for which nothing speaks are drawn, too, where there is room for all. */
const LEAST_WEIGHT = 1e-6;
/** Each draw is among so many: the heaviest that are left. */
const TOP = 8;
/** One source takes at most this share of the room; a longer one is shown by its key sentences. */
const LARGEST_SHARE = 1 / 2;

/** Whether a text may be shown whole where prompts show so much of all texts. */
export const mayBeWhole = (size: number, room: number): boolean => size <= room * LARGEST_SHARE;

/** So many candidates in a row that find no room: it is full, and the others need not be measured. */
const MOST_MISFITS = 50;

/** How much of a prompt's attention a source deserves, from 0 to 1. */
export const weighSource = (attention: Attention): number =>
  Object.entries(WEIGHTS).reduce(
    (sum, [name, weight]) => sum + weight * clamp(attention[name as keyof Attention]),
    0,
  );

/**
 * The level of each source in the part of a prompt that follows its list of sources: all, key
 * sentences, or null for those that stay in the list alone. Sources are drawn by top-k sampling, so
 * that repeated calls do not keep to the same few; one seed gives one choice.
 */
export function chooseLevels(
  candidates: readonly Candidate[],
  room: number,
  seed: number,
): ReadonlyMap<string, (Level & (0 | 1)) | null> {
  let left = room;
  let misfits = 0;
  const levels = new Map<string, 0 | 1 | null>(candidates.map(({ id }) => [id, null]));
  for (const candidate of drawOrder(candidates, seed)) {
    if (misfits > MOST_MISFITS) break;
    const { id } = candidate;
    const [full, key] = candidate.sizes;
    const isWhole = full <= left && mayBeWhole(full, room);
    const size = isWhole ? full : key;
    misfits = size > left ? misfits + 1 : 0;
    if (size > left) continue;
    left -= size;
    levels.set(id, isWhole ? 0 : 1);
  }
  return levels;
}

/** Candidates in the order in which they are drawn, without putting back. */
function* drawOrder(candidates: readonly Candidate[], seed: number): Generator<Candidate> {
  const chance = chanceOf(seed);
  const heaviest = candidates
    .map((candidate) => ({ candidate, weight: weighSource(candidate.attention) }))
    .toSorted((a, b) => b.weight - a.weight || compareIds(a.candidate.id, b.candidate.id));
  const pool = heaviest.slice(0, TOP);
  for (let next = TOP; pool.length > 0; next++) {
    // The weights are taken for probabilities: temperature 1 would draw in proportion to them.
    const shares = pool.map(({ weight }) => Math.max(weight, LEAST_WEIGHT) ** (1 / TEMPERATURE));
    let drawn = chance() * shares.reduce((sum, share) => sum + share, 0);
    const found = shares.findIndex((share) => (drawn -= share) < 0);
    const [one] = pool.splice(found === -1 ? pool.length - 1 : found, 1);
    if (one) yield one.candidate;
    const refill = heaviest[next];
    if (refill) pool.push(refill);
  }
}

const compareIds = (one: string, other: string): number =>
  one.length - other.length || (one < other ? -1 : 1);

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** Numbers from 0 to 1 that a seed fixes (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
