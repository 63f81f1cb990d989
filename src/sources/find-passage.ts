import { sentencesOf } from './claims.ts';
import type { Source } from './source.ts';

/** The passage of a source that has most of a statement's words. */
export type Passage = {
  /** The excerpt: `S1.e2`. */
  readonly excerpt: string;
  readonly text: string;
  /** The share of the statement's words that it has, from 0 to 1; figures count threefold. */
  readonly likeness: number;
};

const WORD = /[\p{L}\p{N}]+(?:[.,]\d+)*/gu;
const FIGURE_WEIGHT = 3;

/** Finds where a source says what a statement says; undefined where nothing was read of it. */
export function findPassage(
  { id, excerpts }: Pick<Source, 'id' | 'excerpts'>,
  statement: string,
): Passage | undefined {
  const wanted = wordsOf(statement);
  let best: Passage | undefined;
  for (const [at, text] of excerpts.entries()) {
    for (const { start, end } of text.split('\n').flatMap(placeLines(text))) {
      const sentence = text.slice(start, end).trim();
      const likeness = sentence === '' ? -1 : shareOf(wanted, wordsOf(sentence));
      if (likeness > (best?.likeness ?? -1)) {
        best = { excerpt: `${id}.e${at + 1}`, text: sentence, likeness };
      }
    }
  }
  return best;
}

/** The sentences of a text, line by line: a heading or an item has no full stop. */
function placeLines(text: string) {
  let from = 0;
  return (line: string) => {
    const start = from;
    from += line.length + 1;
    return sentencesOf(text.slice(start, start + line.length), start);
  };
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .match(WORD)
      ?.filter((word) => word.length > 2 || /\d/.test(word)),
  );

function shareOf(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  let [shared, all] = [0, 0];
  for (const word of wanted) {
    const weight = /\d/.test(word) ? FIGURE_WEIGHT : 1;
    all += weight;
    if (found.has(word)) shared += weight;
  }
  return all === 0 ? 0 : shared / all;
}
