import { chunkMarkdown } from './chunk-markdown.ts';
import { dealRoom } from './deal-room.ts';
import type { Embedder } from './embedder.ts';
import { lexicalEmbedder } from './lexical-embedder.ts';
import { scoreChunks, valueOf } from './rank-chunks.ts';
import { questionsOf, sizeOf } from './shorten-text.ts';

/** How texts would be ranked for a prompt. */
export type Forecast = {
  readonly valueOf: (text: string) => number;
  readonly deal: (room: number) => ReadonlyMap<string, number>;
  /** What an embedding model would be asked for: every part and every question once. */
  readonly pieces: readonly string[];
};

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
  const embedded = await embedAll(
    lexicalEmbedder,
    all.map(({ text }) => text),
  );
  const scores = scoreChunks(embedded, await embedAll(lexicalEmbedder, questions));
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
    pieces: [...new Set([...questions, ...embedded.map(({ text }) => text)])],
  };
}

async function embedAll(embedder: Embedder, texts: readonly string[]) {
  const vectors = await embedder.embed(texts);
  return texts.map((text, at) => ({ text, vector: vectors[at] ?? new Float32Array() }));
}
