import type { Marker } from './markers.ts';
import { matchSpans } from './match-spans.ts';
import type { Prose, Span } from './prose-spans.ts';

/** A sentence that states something a source could be asked for: it has a number or a quotation. */
export type Claim = Span & {
  /** The sources that the sentence cites. */
  readonly ids: readonly string[];
  readonly quotes: readonly Span[];
  readonly numbers: readonly Span[];
};

/** Where a sentence ends: marks, closing signs and its citations, before white space. */
const END =
  /[.!?][*_"'\u201d\u2019)]{0,3}(?:\s?\\?[[\u3010][^\]\u3011\n]{0,80}[\]\u3011]){0,99}(?=\s)/g;
const QUOTE =
  /"[^"\n]{8,600}"|\u201c[^\u201d\n]{8,600}\u201d|\u201e[^\u201c\n]{8,600}\u201c|\u00ab[^\u00bb\n]{8,600}\u00bb/g;
/** It looks for a digit first: what must not stand before it takes longer to look for. */
const NUMBER = /(?=\d)(?<![\p{L}\p{N}_.,-])\d{1,99}(?:[.,]\d{1,99}){0,9}(?![\p{L}_])/gu;
/** The number of an item or a heading says nothing. */
const ORDINAL = /^\s*(?:>\s*)*(?:[-*+]\s+)?\d{1,4}[.)]\s/;
/** Shorter quotations are names and words. */
const LEAST_WORDS = 3;

/** The statements of a document, headings apart. */
export function findClaims(
  text: string,
  prose: readonly Prose[],
  markers: readonly Marker[],
): Claim[] {
  const claims: Claim[] = [];
  let next = 0;
  for (const block of prose) {
    if (block.isHeading) continue;
    const masked = mask(text, block);
    for (const { start, end } of sentencesOf(masked, block.start)) {
      while ((markers[next]?.end ?? end) <= start) next++;
      const own: Marker[] = [];
      for (let at = next; (markers[at]?.start ?? end) < end; at++) own.push(markers[at]!);
      const claim = readClaim(masked, block.start, { start, end }, own);
      if (claim.quotes.length + claim.numbers.length > 0) claims.push(claim);
    }
  }
  return claims;
}

/** The block with spaces for what is no prose, so that places stay the same. */
function mask(text: string, { start, end, parts }: Prose): string {
  let masked = '';
  let from = start;
  for (const part of parts) {
    masked += ' '.repeat(part.start - from) + text.slice(part.start, part.end);
    from = part.end;
  }
  return masked + ' '.repeat(end - from);
}

/** The sentences of a block, as spans from `offset` on. */
export function sentencesOf(block: string, offset: number): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const { start, end } of matchSpans(END, block, 0)) {
    // The full stop behind the number of an item ends nothing.
    if (/^\s*(?:>\s*)*\d{1,4}\.$/.test(block.slice(from, start + 1))) continue;
    spans.push({ start: offset + from, end: offset + end });
    from = end;
  }
  return [...spans, { start: offset + from, end: offset + block.length }];
}

function readClaim(masked: string, offset: number, span: Span, own: readonly Marker[]): Claim {
  const sentence = masked.slice(span.start - offset, span.end - offset);
  const ordinal = span.start + (ORDINAL.exec(sentence)?.[0].length ?? 0);
  let next = 0;
  // Both are in the order of the text, so that one pass over the markers serves all numbers.
  const isOutside = ({ start }: Span): boolean => {
    while ((own[next]?.end ?? start + 1) <= start) next++;
    return start >= ordinal && start < (own[next]?.start ?? start + 1);
  };
  const quotes = matchSpans(QUOTE, sentence, span.start).filter(({ start, end }) => {
    const words = sentence
      .slice(start - span.start, end - span.start)
      .trim()
      .split(/\s+/);
    return words.length >= LEAST_WORDS;
  });
  return {
    ...span,
    ids: own.flatMap(({ ids }) => ids),
    quotes,
    numbers: matchSpans(NUMBER, sentence, span.start).filter(isOutside),
  };
}
