import { sentencesOf } from './claims.ts';

/** Key sentences of one source are at most so long together. */
const MOST_CHARACTERS = 600;
/** A sentence without end, such as a table that was read as prose, is cut here. */
const LONGEST_SENTENCE = 400;
/** How much a number or quotation counts beside one word of the subject. */
const EVIDENCE = 2;
/** Of longer texts the beginning is looked at. */
const MOST_READ = 200_000;

/**
 * The sentences of a source that say most on a subject, in the order in which they stand: those that
 * share words with it, and those with numbers or quotations, which a citation can be checked against.
 */
export function keySentences(excerpts: readonly string[], subject: string): string[] {
  const wanted = new Set(wordsOf(subject));
  const sentences = excerpts.flatMap(readSentences).map((text, place) => ({
    text,
    place,
    score: scoreSentence(text, wanted) + (place === 0 ? 1 : 0),
  }));
  let left = MOST_CHARACTERS;
  const kept = sentences
    .toSorted((a, b) => b.score - a.score || a.place - b.place)
    .filter(({ text }) => {
      if (text.length > left) return false;
      left -= text.length;
      return true;
    });
  return kept.toSorted((a, b) => a.place - b.place).map(({ text }) => text);
}

const readSentences = (excerpt: string): string[] =>
  excerpt
    .slice(0, MOST_READ)
    .split(/\n\s*\n/)
    .flatMap((block) => sentencesOf(block, 0).map(({ start, end }) => block.slice(start, end)))
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim().slice(0, LONGEST_SENTENCE))
    .filter((sentence) => sentence !== '');

function scoreSentence(text: string, wanted: ReadonlySet<string>): number {
  const shared = new Set(wordsOf(text).filter((word) => wanted.has(word))).size;
  return shared + (/\d|["\u201c\u201e\u00ab]/.test(text) ? EVIDENCE : 0);
}

/** Words of four letters and more: shorter ones say little of a subject. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
