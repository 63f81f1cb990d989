import type { Chunk } from './chunk-markdown.ts';
import { markdownAtoms } from './markdown-atoms.ts';

type Shortening = {
  readonly chunks: readonly Chunk[];
  /** The chunks in the order in which they are to be kept. */
  readonly order: readonly number[];
  /** How long each is, as `sizeOf` counts it. */
  readonly sizes: readonly number[];
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

/** Tokens of a chunk where it stands alone: with its place and the mark of the gap before it. */
export const sizeOf = (chunk: Chunk, count: (text: string) => number): number =>
  count(withPlace(chunk)) + count(`\n\n${GAP}\n\n`);

/** Tokens of the line that says that a text was shortened. */
export const noticeSize = (chunks: number, count: (text: string) => number): number =>
  count(notice(chunks, chunks));

/**
 * The parts of a document that are to be kept first, in the document's order, each under its
 * headings; gaps are marked.
 */
export function shortenText({ chunks, order, sizes, most, count }: Shortening): string {
  const kept = new Set<number>();
  let left = most - noticeSize(chunks.length, count);
  for (const at of order) {
    const size = sizes[at] ?? 0;
    if (size > left) continue;
    left -= size;
    kept.add(at);
  }
  return join(chunks, kept);
}

function join(chunks: readonly Chunk[], kept: ReadonlySet<number>): string {
  if (kept.size === 0) return LEFT_OUT;
  const parts = [notice(kept.size, chunks.length)];
  for (const [at, chunk] of chunks.entries()) {
    if (!kept.has(at)) {
      if (parts.at(-1) !== GAP) parts.push(GAP);
    } else parts.push(kept.has(at - 1) ? chunk.text.trim() : withPlace(chunk));
  }
  return parts.join('\n\n');
}

/** What stands for a text of which nothing is left. */
export const LEFT_OUT = '(Left out to fit.)';

const notice = (kept: number, all: number): string =>
  `(Shortened to fit: ${kept} of ${all} parts, those that matter most here.)`;

/** A part that is out of its place says whose it was. */
function withPlace({ headings, lead, text }: Chunk): string {
  const body = `${lead}${text.trim()}`;
  const path = headings.filter((title) => !body.includes(title)).join(' › ');
  return path === '' ? body : `(${path})\n${body}`;
}
