import type { ByDepth, ContractNode, Depth } from './types.ts';

/** Characters of a text that states evidence, and of one that does not. */
type Length = { readonly cited: number; readonly plain: number };

/**
 * What a frontier model typically writes for each kind of place in a contract, in characters:
 * means over some sixty documents of one, rounded. The first entry of a list is for sections, the
 * second for the fields of their records, the third for whatever lies deeper. What a contract
 * cannot tell is how talkative a model is; finished runs do.
 */
export const TYPICAL = {
  text: [
    { cited: 800, plain: 520 },
    { cited: 300, plain: 70 },
    { cited: 130, plain: 35 },
  ] as readonly Length[],
  /** One point of a list, and how many points a list has. */
  point: [
    { cited: 170, plain: 75 },
    { cited: 90, plain: 70 },
    { cited: 40, plain: 35 },
  ] as readonly Length[],
  points: [3, 2, 2],
  records: 3,
  /** An object whose fields the contract leaves open. */
  open: { cited: 860, plain: 75 } as Length,
  /** What the plan of a stage says about one field of a document that it guides. */
  guidance: 140,
  /** Documents as wholes, and the plans that guide a stage's documents. */
  whole: { EXECUTE: 12_500, PLAN: 22_500 },
} as const;

/**
 * The least that the same places take in full sentences, in words. A sentence or a point has 17, the
 * middle of the 12 to 22 that prompts ask for; a text in a record, often the cell of a table, is one
 * of the shortest, 12. Counts of records and the shares of optional places that get filled are those of
 * the recorded debate about the bakery: 52 documents at standard depth.
 */
export const LEAST = {
  /** A name, an id, a figure, a date. */
  value: 2,
  sentence: 17,
  cell: 12,
  /** Sentences of a section, and of a text field in a record. */
  sentences: { brief: [2, 1], standard: [4, 1], full: [7, 2] },
  /** Points of a list that is a section, and of one within a record. */
  points: { brief: [2, 1], standard: [3, 2], full: [5, 3] },
  /** Records of a list for which the contract names no number (`x-items`). */
  records: { brief: 4, standard: 6, full: 9 },
  /** Optional sections, and optional fields of records. */
  optional: [0.9, 0.65],
  /** The share of sections for which the plan of a stage has guidance: a sentence each. */
  guided: { brief: 0.25, standard: 0.4, full: 0.6 },
} as const satisfies Readonly<Record<string, unknown>>;

/** The entry for a level, or the last one for whatever lies deeper. */
export const atLevel = <T>(list: readonly T[], level: number): T =>
  list[Math.min(level, list.length - 1)]!;

/** Last words of the names of fields that hold a name, an id or a figure; measured: 0 to 4 words. */
const VALUES = new Set(
  (
    'amount commit completed cost currency demands deps dimension document effort id ids index ' +
    'indexes item key keys kind mark measure milestone module name need needs order owner owners ' +
    'paid path per period place progress quote rank readers role schema score spent status ' +
    'subsystems title unit until value week weeks weight when where who next option apis schemas ' +
    'findings finding columns high low'
  ).split(' '),
);

/** Whether a place holds a value, not sentences; a name tells it of the fields of records alone. */
export function holdsValue(key: string, node: ContractNode, level: number): boolean {
  if (node.enum !== undefined || node.items?.enum !== undefined) return true;
  const types = [node.type ?? 'string'].flat();
  const isText = ['string', 'array', 'object'].some((type) => types.includes(type));
  if (!isText) return true;
  if (level === 0) return false;
  if (!types.includes('string') && !types.includes('array')) return true;
  return VALUES.has(key.split('_').at(-1)!.toLowerCase());
}

export const forDepth = (said: ByDepth | undefined, depth: Depth): number | undefined =>
  typeof said === 'object' ? said[depth] : said;
