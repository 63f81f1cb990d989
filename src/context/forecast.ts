import { chunkMarkdown } from './chunk-markdown.ts';
import { dealRoom } from './deal-room.ts';
import type { Embedder } from './embedder.ts';
import { lexicalEmbedder } from './lexical-embedder.ts';
import { scoreChunks, valueOf } from './rank-chunks.ts';
import { findWanted } from './rank-texts.ts';
import { questionsOf, sizeOf } from './shorten-text.ts';
import { WordIndex } from './word-index.ts';

/** How texts would be ranked for a prompt. */
export type Forecast = {
  readonly valueOf: (text: string) => number;
  readonly deal: (room: number) => ReadonlyMap<string, number>;
  /** What an embedding model would be asked for: the parts that it compares and the questions. */
  readonly pieces: readonly string[];
};

const NOTHING = new Float32Array();

/**
 * Ranks texts by their words alone and stores nothing: what is shown before a run spends anything.
 * Where the run compares by words too, it ranks in the same way.
 */
export async function forecast(
  prompt: string,
  texts: readonly string[],
  count: (text: string) => number,
): Promise<Forecast> {
  const chunked = [...new Set(texts)].map((text) => [text, chunkMarkdown(text)] as const);
  const questions = questionsOf(prompt);
  const all = chunked.flatMap(([, chunks]) => chunks);
  const words = await WordIndex.over(all.map(({ text }) => text));
  const read = new Set(findWanted(words, questions));
  const parts = all.filter((_, at) => read.has(at)).map(({ text }) => text);
  const vectors = new Map(
    (await embedAll(lexicalEmbedder, parts)).map(({ text, vector }) => [text, vector]),
  );
  const embedded = all.map(({ text }) => ({ text, vector: vectors.get(text) ?? NOTHING }));
  const scores = scoreChunks(words, embedded, await embedAll(lexicalEmbedder, questions));
  const sizes = all.map((chunk) => sizeOf(chunk, count));
  let from = 0;
  const spans = new Map(chunked.map(([text, { length }]) => [text, [from, (from += length)]]));
  return {
    valueOf: (text) => valueOf(scores.slice(...(spans.get(text) ?? [0, 0]))),
    deal: (room) => {
      const { chosen } = dealRoom(embedded, scores, sizes, room);
      return new Map(
        [...spans].map(([text, [start = 0, end = 0]]) => [
          text,
          sizes.slice(start, end).reduce((sum, size, at) => {
            return sum + (chosen.has(start + at) ? size : 0);
          }, 0),
        ]),
      );
    },
    pieces: [...new Set([...questions, ...parts])],
  };
}

async function embedAll(embedder: Embedder, texts: readonly string[]) {
  const vectors = await embedder.embed(texts);
  return texts.map((text, at) => ({ text, vector: vectors[at] ?? new Float32Array() }));
}
