import type { Chunk } from './chunk-markdown.ts';
import { markdownAtoms } from './markdown-atoms.ts';
import { chooseDiverse, type Embedded } from './rank-chunks.ts';

type Shortening = {
  readonly chunks: readonly (Chunk & Embedded)[];
  /** How much each chunk is wanted. */
  readonly scores: readonly number[];
  /** How long it may become, in tokens. */
  readonly most: number;
  readonly count: (text: string) => number;
};

/** Questions beyond these are not asked: each is compared with every part of every text. */
const MOST_QUESTIONS = 64;
/** Longer paragraphs of a prompt are asked sentence by sentence. */
const QUESTION = 280;
const GAP = '[…]';

/** What a prompt asks for, point by point. */
export const questionsOf = (prompt: string): string[] =>
  markdownAtoms(prompt, QUESTION)
    .map(({ start, end }) => prompt.slice(start, end).trim())
    .filter((text) => text.length > 20)
    .slice(0, MOST_QUESTIONS);

/**
 * The parts of a document that are wanted most and differ most, in the document's order,
 * each under its headings; gaps are marked.
 */
export function shortenText({ chunks, scores, most, count }: Shortening): string {
  const kept = new Set<number>();
  let left = most - count(notice(chunks.length, chunks.length));
  for (const at of chooseDiverse(chunks, scores)) {
    const chunk = chunks[at];
    if (!chunk) continue;
    const size = count(withPlace(chunk)) + count(`\n\n${GAP}\n\n`);
    if (size > left) continue;
    left -= size;
    kept.add(at);
  }
  return join(chunks, kept);
}

function join(chunks: readonly Chunk[], kept: ReadonlySet<number>): string {
  const parts = [notice(kept.size, chunks.length)];
  for (const [at, chunk] of chunks.entries()) {
    if (!kept.has(at)) {
      if (parts.at(-1) !== GAP) parts.push(GAP);
    } else parts.push(kept.has(at - 1) ? chunk.text.trim() : withPlace(chunk));
  }
  return parts.join('\n\n');
}

const notice = (kept: number, all: number): string =>
  `(Shortened to fit: ${kept} of ${all} parts, those that matter most here.)`;

/** A part that is out of its place says whose it was. */
function withPlace({ headings, lead, text }: Chunk): string {
  const body = `${lead}${text.trim()}`;
  const path = headings.filter((title) => !body.includes(title)).join(' › ');
  return path === '' ? body : `(${path})\n${body}`;
}
