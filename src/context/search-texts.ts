import { Slices } from '../platform/clock.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { type Chunk, chunkMarkdown } from './chunk-markdown.ts';
import { type Match, matchChunks, saveChunks } from './match-chunks.ts';
import { digestOf } from './memory.ts';
import { narrowTexts } from './narrow-texts.ts';
import { highest } from './rank-chunks.ts';
import { embedAll, type Reading, type Recollection } from './rank-texts.ts';
import { WordIndex } from './word-index.ts';

/** A part of a text that serves a question. */
export type Passage = {
  /** Which of the texts it stands in, by its place in the list. */
  readonly text: number;
  readonly passage: string;
  readonly score: number;
  /** Passages of one text stand in this order. */
  readonly order: number;
};

/** A text that is searched, or a stretch of a long one, and which of the texts it stands in. */
export type Piece = { readonly body: string; readonly text: number; readonly start: number };

/** Texts of so many characters together are searched whole: some 4,000 parts. */
const MOST_WHOLE = 900_000;
/**
 * Of longer ones the stretches with most of the questions' words are searched: some 1,000 parts, which
 * a model on this machine embeds in less than half a minute.
 */
const MOST_NARROWED = 225_000;

/**
 * For each question the parts of texts that serve it best, by meaning and by words. Texts are embedded
 * when they are first searched; their vectors and parts are kept for the next search. However long the
 * texts are, a bounded number of their parts is embedded.
 */
export async function searchTexts(
  given: Omit<Recollection, 'prompt' | 'count' | 'mostEmbedded'>,
  texts: readonly string[],
  questions: readonly string[],
  most: number,
): Promise<Passage[][]> {
  if (texts.length === 0 || questions.length === 0) return questions.map(() => []);
  return monitor.time('search', () => search(given, texts, questions, most));
}

async function search(
  given: Parameters<typeof searchTexts>[0],
  texts: readonly string[],
  questions: readonly string[],
  most: number,
): Promise<Passage[][]> {
  const pieces = await findPieces(texts, questions, given);
  const chunked = await chunkPieces(pieces, given);
  const parts = [...chunked.values()].flat().map(({ text }) => text);
  const asked = await embedAll(given, questions, parts);
  const places = new Map(pieces.map((piece) => [digestOf(piece.body), piece]));
  const { database, tenantId, embedder } = given;
  const matches = await database.asTenant(tenantId, async (tx) => {
    await saveChunks(tx, given, chunked);
    return matchChunks(tx, { model: embedder.model, items: [...places.keys()], most }, asked);
  });
  return matches.map((found) => found.map((match) => toPassage(match, places)));
}

/** Whether texts are so long together that only stretches of them are searched. */
export const isNarrowed = (texts: readonly string[]): boolean =>
  texts.reduce((sum, text) => sum + text.length, 0) > MOST_WHOLE;

/** The texts, or of long ones the stretches to be searched, the most wanted first. */
export async function findPieces(
  texts: readonly string[],
  questions: readonly string[],
  { signal }: Reading = {},
): Promise<Piece[]> {
  if (!isNarrowed(texts)) return texts.map((body, text) => ({ body, text, start: 0 }));
  const blocks = await narrowTexts(texts, questions, { mostCharacters: MOST_NARROWED, signal });
  return blocks.map(({ text, start, end }) => ({
    body: texts[text]!.slice(start, end),
    text,
    start,
  }));
}

/** Their chunks, made a few pieces at a time so that leases are extended meanwhile. */
export async function chunkPieces(
  pieces: readonly Piece[],
  { signal }: Reading = {},
): Promise<Map<string, readonly Chunk[]>> {
  const slices = new Slices();
  const chunked = new Map<string, readonly Chunk[]>();
  for (const { body } of pieces) {
    signal?.throwIfAborted();
    chunked.set(body, chunkMarkdown(body));
    await slices.rest();
  }
  return chunked;
}

const toPassage = (
  { item, place, body, score }: Match,
  places: ReadonlyMap<string, Piece>,
): Passage => {
  const { text = 0, start = 0 } = places.get(item) ?? {};
  return { text, passage: body.trim(), score, order: start + place };
};

/** The parts of texts that have most of each question's words: nothing is embedded or stored. */
export async function searchByWords(
  texts: readonly string[],
  questions: readonly string[],
  most: number,
  reading: Reading = {},
): Promise<Passage[][]> {
  if (texts.length === 0 || questions.length === 0) return questions.map(() => []);
  const pieces = await findPieces(texts, questions, reading);
  const chunked = await chunkPieces(pieces, reading);
  const parts = pieces.flatMap(({ body, text, start }) =>
    (chunked.get(body) ?? []).map((chunk, at) => {
      return { text, passage: chunk.text.trim(), order: start + at };
    }),
  );
  const words = await WordIndex.over(
    parts.map(({ passage }) => passage),
    reading.signal,
  );
  return questions.map((question) => {
    const scores = words.match(question);
    return highest(scores, most).map((at) => ({ ...parts[at]!, score: scores[at] ?? 0 }));
  });
}
