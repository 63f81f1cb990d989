import type { SourceDraft } from '../../src/sources/source.ts';

/** A fault that a model, a merge or a provider brings into the citations of a document. */
export type FaultClass = (typeof FAULT_CLASSES)[number];

export const FAULT_CLASSES = [
  'unknown id',
  'wrong id',
  'invented address',
  'altered quotation',
  'wrong number',
  'dropped marker',
  'duplicate source',
  'renumbering',
  'marker in code',
  'split marker',
  'orphan',
  'empty registry',
] as const;

/** Numbers from 0 to 1 that a seed fixes (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const THINGS = ['bread', 'cake', 'coffee', 'soup', 'milk', 'fruit', 'tea', 'cheese'];
const PLACES = ['Riga', 'Tartu', 'Vilnius', 'Turku', 'Bergen', 'Lund', 'Aarhus', 'Gdansk'];

/** What one source says: a figure and a saying that no other source has. */
export type Fact = { readonly statement: string; readonly quotation: string };

export function factOf(at: number, chance: () => number): Fact {
  const [thing, place] = [THINGS[at % THINGS.length], PLACES[at % PLACES.length]];
  // The figures of two sources never meet: each has its own thousands.
  const figure = (at + 2) * 1000 + Math.floor(chance() * 900) + 11;
  return {
    statement: `The shop in ${place} sells ${figure} portions of ${thing} a year`,
    quotation: `"nobody in ${place} wants ${thing} after noon"`,
  };
}

export const draftOf = (at: number, { statement, quotation }: Fact): SourceDraft => ({
  title: `Survey of ${PLACES[at % PLACES.length]}`,
  url: `https://example.org/surveys/${at + 1}`,
  excerpts: [`${statement}. The owner says ${quotation}.`],
});

/** The sentences of a clean document about a source. */
export const sentencesOf = (id: string, { statement, quotation }: Fact): string[] => [
  `${statement} [${id}].`,
  `The owner says ${quotation} [${id}].`,
];
