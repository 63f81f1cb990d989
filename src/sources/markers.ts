import { findProse, type Prose, type Span } from './prose-spans.ts';

/** A citation in a text: `[S1]`, or what a model wrote for it. */
export type Marker = Span & {
  readonly ids: readonly string[];
  /** Whether it is written as the contract wants it. */
  readonly isPlain: boolean;
};

const ONE = String.raw`(?:S\s?|Source\s{1,4})[1-9]\d{0,8}`;
/** White space has one way to match: with two, a list that is never closed takes 2ⁿ steps. */
const NEXT = String.raw`(?:\s{0,4}(?:[,;]|and|&|[-\u2010-\u2015])\s{0,4}|\s{1,4})?`;
/** Repetitions are bounded: V8 keeps a place to come back to for each, and overflows at millions. */
const LIST = `${ONE}(?:${NEXT}(?:${ONE})){0,99}`;
/** In square, full-width or lenticular brackets, escaped ones, too; or as plain words. */
const MARKER = new RegExp(
  String.raw`\\?\[\s*(?:${LIST})\s*\\?\]|[\u3010\uff3b]\s*(?:${LIST})\s*[\u3011\uff3d]|\(\s*(?:${LIST})\s*\)|\bSources?\s+[1-9]\d{0,8}\b`,
  'gi',
);
const PLAIN = /^\[S\d+\]$/;
/** What looks like a marker and names no source. */
const MALFORMED = /\[\s*(?:S(?:0\d*|\d*[a-z?]\d*)?|citation needed|source)\s*\]/gi;

/** The citations in the prose of a document, in their order. */
export const findMarkers = (text: string, prose: readonly Prose[]): Marker[] =>
  findAll(text, prose, MARKER).map(({ start, end }) => {
    const written = text.slice(start, end);
    const isPlain = PLAIN.test(written);
    return { start, end, ids: isPlain ? [written.slice(1, -1)] : readIds(written), isPlain };
  });

/** What looks like a citation and can be none. */
export const findMalformed = (text: string, prose: readonly Prose[]): Span[] =>
  findAll(text, prose, MALFORMED);

function findAll(text: string, prose: readonly Prose[], pattern: RegExp): Span[] {
  return prose.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      [...text.slice(part.start, part.end).matchAll(pattern)].map(({ index, 0: found }) => ({
        start: part.start + index,
        end: part.start + index + found.length,
      })),
    ),
  );
}

/** A range may name so many sources; a longer one is a slip. */
const LONGEST_RANGE = 50;

/** The ids in a marker; `S2-S4` names three. */
function readIds(written: string): string[] {
  const ids: string[] = [];
  let before: number | undefined;
  for (const { index, 0: found } of written.matchAll(/[1-9]\d{0,8}/g)) {
    const number = Number(found);
    const isRange = /[-\u2010-\u2015]\s*(?:S|Source\s+)?\s*$/i.test(written.slice(0, index));
    const from =
      isRange && before !== undefined && number - before <= LONGEST_RANGE ? before + 1 : number;
    for (let one = Math.min(from, number); one <= number; one++) ids.push(`S${one}`);
    before = number;
  }
  return [...new Set(ids)];
}

/** The text with every citation written plainly: `[S1][S2]` for `[S1, S2]`, and so on. */
export function normaliseMarkers(text: string): string {
  return replaceSpans(
    text,
    findMarkers(text, findProse(text)).map((marker) => ({
      ...marker,
      by: marker.ids.map((id) => `[${id}]`).join(''),
    })),
  );
}

/** Replaces stretches of a text, which are in order and apart from each other. */
export function replaceSpans(
  text: string,
  spans: readonly (Span & { readonly by: string })[],
): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, by } of spans) {
    pieces.push(text.slice(from, start), by);
    from = end;
  }
  return [...pieces, text.slice(from)].join('');
}
