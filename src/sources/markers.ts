import { matchSpans } from './match-spans.ts';
import { findProse, type Prose, type Span } from './prose-spans.ts';

/** A citation in a text: `[S1]`, `[S1.e2]` for one excerpt, or what a model wrote for it. */
export type Marker = Span & {
  readonly ids: readonly string[];
  /** The same with the excerpts: `S1.e2`. */
  readonly names: readonly string[];
  /** Whether it is written as the contract wants it. */
  readonly isPlain: boolean;
};

const ONE = String.raw`(?:S\s?|Source\s{1,4})[1-9]\d{0,8}(?:\.e[1-9]\d{0,3})?`;
/** White space has one way to match: with two, a list that is never closed takes 2ⁿ steps. */
const NEXT = String.raw`(?:\s{0,4}(?:[,;]|and|&|[-\u2010-\u2015])\s{0,4}|\s{1,4})?`;
/** Repetitions are bounded: V8 keeps a place to come back to for each, and overflows at millions. */
const LIST = `${ONE}(?:${NEXT}(?:${ONE})){0,99}`;
/** In square, full-width or lenticular brackets, escaped ones, too; or as plain words. */
const MARKER = new RegExp(
  String.raw`\\?\[\s*(?:${LIST})\s*\\?\]|[\u3010\uff3b]\s*(?:${LIST})\s*[\u3011\uff3d]|\(\s*(?:${LIST})\s*\)|\bSources?\s+[1-9]\d{0,8}\b`,
  'gi',
);
const PLAIN = /^\[S\d+(?:\.e\d+)?\]$/;
/** The reference to a footnote, or its beginning. */
const FOOTNOTE = /\[\^[^\]\s]{1,60}\]/g;
const NAMED_SOURCE = /\b(Sources?\s+)([1-9]\d{0,8})\b/gi;

/**
 * The text of a source with other brackets around what would be a citation or a footnote, were it
 * copied into a document: `⟦S1⟧`. Quotations of it are found again by `plainMarkers`.
 */
export const hideMarkers = (text: string): string =>
  text
    .replace(MARKER, (marker) =>
      marker
        .replace(/[[\u3010\uff3b]/, '\u27e6')
        .replace(/[\]\u3011\uff3d]/, '\u27e7')
        .replace('(', '\u2985')
        .replace(')', '\u2986'),
    )
    .replace(FOOTNOTE, (note) => `\u27e6${note.slice(1, -1)}\u27e7`)
    .replace(NAMED_SOURCE, '$1\u27e8$2\u27e9');

/** The text as it stands in its source, where a quotation has brackets of `hideMarkers`. */
export const plainMarkers = (text: string): string =>
  text
    .replaceAll('\u27e6', '[')
    .replaceAll('\u27e7', ']')
    .replaceAll('\u2985', '(')
    .replaceAll('\u2986', ')')
    .replace(/[\u27e8\u27e9]/g, '');

/** What looks like a marker and names no source. */
const MALFORMED = /\[\s*(?:S(?:0\d*|\d*[a-z?]\d*)?|citation needed|source)\s*\]/gi;

/** The citations in the prose of a document, in their order. */
export const findMarkers = (text: string, prose: readonly Prose[]): Marker[] =>
  findAll(text, prose, MARKER).map(({ start, end }) => {
    const written = text.slice(start, end);
    const isPlain = PLAIN.test(written);
    const names = isPlain ? [written.slice(1, -1)] : readNames(written);
    const ids = names.map(sourceOf);
    return { start, end, ids: isPlain ? ids : [...new Set(ids)], names, isPlain };
  });

/** The id of a source, without the excerpt of it. */
function sourceOf(name: string): string {
  const at = name.indexOf('.');
  return at === -1 ? name : name.slice(0, at);
}

/** What looks like a citation and can be none. */
export const findMalformed = (text: string, prose: readonly Prose[]): Span[] =>
  findRare(text, prose, MALFORMED);

function findAll(text: string, prose: readonly Prose[], pattern: RegExp): Span[] {
  const found: Span[] = [];
  for (const { parts } of prose) {
    for (const { start, end } of parts) matchSpans(pattern, text.slice(start, end), start, found);
  }
  return found;
}

/** The same for what few texts have: one pass over the whole text tells. */
const findRare = (text: string, prose: readonly Prose[], pattern: RegExp): Span[] =>
  text.search(pattern) === -1 ? [] : findAll(text, prose, pattern);

/** A cheap test before the text is parsed: every marker has one of these. */
const MAY_CITE = /[sS][ \t\n]?[0-9]|[sS]ource/;
/** An id that no source can have: they count from 1. */
const NO_SOURCE = /\[\s*S0\d{0,8}\s*\]/gi;
const NUMBERED = /([1-9]\d{0,8})(\.e[1-9]\d{0,3})?/gi;
/** A range may name so many sources; a longer one is a slip. */
const LONGEST_RANGE = 50;

/** The ids in a marker, with their excerpts; `S2-S4` names three. */
function readNames(written: string): string[] {
  const names: string[] = [];
  let before: number | undefined;
  for (const { index, 1: digits, 2: excerpt = '' } of written.matchAll(NUMBERED)) {
    const number = Number(digits);
    const isRange = /[-\u2010-\u2015]\s*(?:S|Source\s+)?\s*$/i.test(written.slice(0, index));
    const from =
      isRange && before !== undefined && number - before <= LONGEST_RANGE ? before + 1 : number;
    for (let one = Math.min(from, number); one < number; one++) names.push(`S${one}`);
    names.push(`S${number}${excerpt.toLowerCase()}`);
    before = number;
  }
  return [...new Set(names)];
}

/** What stands for a citation of a source that does not exist; the audit finds it again. */
const FLAGGED = /\[unknown source: S\d{1,9}\]/g;

/** The citations of sources that do not exist, which settleMarkers has marked. */
export const findFlagged = (text: string, prose: readonly Prose[]): Span[] =>
  findRare(text, prose, FLAGGED);

/**
 * The text with every citation written plainly; a citation of a source that does not exist becomes
 * `[unknown source: S9]`, which neither people nor code take for one.
 */
export function settleMarkers(text: string, has: (id: string) => boolean): string {
  if (!MAY_CITE.test(text)) return text;
  const prose = findProse(text);
  const name = (one: string): string =>
    has(sourceOf(one)) ? `[${one}]` : `[unknown source: ${sourceOf(one)}]`;
  const cited = findMarkers(text, prose).map(({ start, end, names }) => ({
    start,
    end,
    by: names.map(name).join(''),
  }));
  const wrong = findAll(text, prose, NO_SOURCE).map(({ start, end }) => ({
    start,
    end,
    by: `[unknown source: ${text.slice(start + 1, end - 1).trim()}]`,
  }));
  return replaceSpans(
    text,
    [...cited, ...wrong].toSorted((a, b) => a.start - b.start),
  );
}

/** The text with every citation written plainly: `[S1][S2]` for `[S1, S2]`, and so on. */
export function normaliseMarkers(text: string): string {
  return replaceSpans(
    text,
    findMarkers(text, findProse(text)).map((marker) => ({
      ...marker,
      by: marker.names.map((name) => `[${name}]`).join(''),
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
