import { type Atom, markdownAtoms } from './markdown-atoms.ts';
import { subjectWords } from './words.ts';

/** A part of a document that speaks of one subject. */
export type Chunk = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** The head of the table in which it begins; empty where it begins in none, or with the head. */
  readonly lead: string;
};

/** In characters. Larger chunks hide a fact among others: measured by `npm run bench retrieval`. */
const MOST = 220;
/** A short text has finer parts, so that some of it is left when it is made shorter still. */
const SHORT = { upTo: 4_000, most: 220 };
/** The share of a full chunk below which one says too little to be found by its subject. */
const LEAST_SHARE = 1 / 4;
/** Share of common words below which the next piece speaks of something else. */
const SHIFT = 0.06;

/**
 * Cuts a document where its structure or its subject changes, never within a sentence, an item, a
 * row or a fence. The chunks follow each other without a gap: joined they are the document.
 */
export function chunkMarkdown(text: string, most = chunkSize(text)): Chunk[] {
  const groups: Atom[][] = [];
  for (const atom of markdownAtoms(text, most)) {
    const group = groups.at(-1);
    if (group && !isBoundary(text, group, atom, most)) group.push(atom);
    else groups.push([atom]);
  }
  return groups.flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) return [];
    const { start, headings } = first;
    const lead = text.startsWith(first.lead, start) ? '' : first.lead;
    const own = first.isHeading ? last.headings : headings;
    return [{ start, end: last.end, text: text.slice(start, last.end), headings: own, lead }];
  });
}

const chunkSize = ({ length }: string): number => (length <= SHORT.upTo ? SHORT.most : MOST);

function isBoundary(text: string, group: readonly Atom[], next: Atom, most: number): boolean {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) return false;
  // A heading belongs to what it heads.
  if (last.isHeading) return next.isHeading && last.headings.length >= next.headings.length;
  if (next.isHeading) return true;
  const size = last.end - first.start;
  if (size + next.end - next.start > most) return true;
  return (
    size >= most * LEAST_SHARE &&
    isShift(text.slice(first.start, last.end), text.slice(next.start, next.end))
  );
}

function isShift(before: string, after: string): boolean {
  const known = new Set(subjectWords(before));
  const words = new Set(subjectWords(after));
  if (words.size < 4) return false;
  const shared = [...words].filter((word) => known.has(word));
  return shared.length / words.size < SHIFT;
}
