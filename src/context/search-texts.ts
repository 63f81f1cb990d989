import { monitor } from '../platform/performance-monitor.ts';
import { chunkMarkdown } from './chunk-markdown.ts';
import { type Match, matchChunks, saveChunks } from './match-chunks.ts';
import { digestOf } from './memory.ts';
import { highest } from './rank-chunks.ts';
import { embedAll, type Recollection } from './rank-texts.ts';
import { WordIndex } from './word-index.ts';

/** A part of a text that serves a question. */
export type Passage = {
  /** Which of the texts it stands in, by its place in the list. */
  readonly text: number;
  readonly passage: string;
  readonly score: number;
};

/**
 * For each question the parts of texts that serve it best, by meaning and by words. Texts are embedded
 * when they are first searched; their vectors and parts are kept for the next search.
 */
export async function searchTexts(
  given: Omit<Recollection, 'prompt' | 'count' | 'mostNumbers'>,
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
  const chunked = new Map(texts.map((text) => [text, chunkMarkdown(text)]));
  const parts = [...chunked.values()].flat().map(({ text }) => text);
  const asked = await embedAll(given, questions, parts);
  const places = new Map(texts.map((text, at) => [digestOf(text), at]));
  const { database, tenantId, embedder } = given;
  const matches = await database.asTenant(tenantId, async (tx) => {
    await saveChunks(tx, given, chunked);
    return matchChunks(tx, { model: embedder.model, items: [...places.keys()], most }, asked);
  });
  return matches.map((found) => found.map((match) => toPassage(match, places)));
}

const toPassage = ({ item, body, score }: Match, places: ReadonlyMap<string, number>): Passage => ({
  text: places.get(item) ?? 0,
  passage: body.trim(),
  score,
});

/** The parts of texts that have most of each question's words: nothing is embedded or stored. */
export function searchByWords(
  texts: readonly string[],
  questions: readonly string[],
  most: number,
): Passage[][] {
  const parts = texts.flatMap((whole, text) =>
    chunkMarkdown(whole).map((chunk) => ({ text, passage: chunk.text.trim() })),
  );
  const words = new WordIndex(parts.map(({ passage }) => passage));
  return questions.map((question) => {
    const scores = words.match(question);
    return highest(scores, most).map((at) => ({ ...parts[at]!, score: scores[at] ?? 0 }));
  });
}
