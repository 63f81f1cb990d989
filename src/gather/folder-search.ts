import { type Chunk, chunkMarkdown } from '../context/chunk-markdown.ts';
import type { Embedded, Embedder } from '../context/embedder.ts';
import { lexicalEmbedder } from '../context/lexical-embedder.ts';
import { highest, serveQuestion } from '../context/rank-chunks.ts';
import { VectorScan } from '../context/vector-scan.ts';
import { WordIndex } from '../context/word-index.ts';
import { type GatherOptions, gatherSources } from './gather-sources.ts';
import type { GatheredSource } from './gathered-source.ts';
import {
  MOST_HITS,
  type SearchHit,
  type SearchOptions,
  type SearchProvider,
} from './search-provider.ts';

/** So many passages of one file answer a query. */
const MOST_PASSAGES = 3;
/** The best chunks are followed this many times deeper than hits are wanted: files have several. */
const DEPTH = 6;

type Passage = Chunk & Embedded & { readonly source: GatheredSource };
type Index = {
  readonly passages: readonly Passage[];
  readonly vectors: VectorScan;
  readonly words: WordIndex;
};

/** How a folder is searched; the embedder compares by words where none is given. */
export type FolderSearchOptions = GatherOptions & { readonly embedder?: Embedder };

/**
 * Searches the files of a folder by words and by meaning; they are read with the first query. A hit
 * is a file with the passages that answer the query, word for word.
 */
export function folderSearch(folder: string, options: FolderSearchOptions = {}): SearchProvider {
  const { embedder = lexicalEmbedder } = options;
  let index: Promise<Index> | undefined;
  return {
    name: 'folder',
    async search(query, { most = MOST_HITS }: SearchOptions = {}) {
      index ??= readIndex(folder, options, embedder);
      const { passages, vectors, words } = await index;
      const [vector] = await embedder.embed([query]);
      if (passages.length === 0 || vector === undefined) return [];
      const question = { text: query, vector };
      const depth = most * DEPTH;
      const scores = serveQuestion(vectors, words, question, depth);
      const matched = words.match(query);
      // A passage that shares no word with the query is a guess by vectors of words alone.
      const isHit = (at: number): boolean => embedder !== lexicalEmbedder || (matched[at] ?? 0) > 0;
      const found = highest(scores, depth).filter(isHit);
      return groupBySource(
        found.flatMap((at) => passages[at] ?? []),
        most,
      );
    },
  };
}

async function readIndex(
  folder: string,
  options: GatherOptions,
  embedder: Embedder,
): Promise<Index> {
  const { sources, refused } = await gatherSources([folder], options);
  const unusable = refused.find(({ place }) => place === folder);
  if (unusable !== undefined) throw unusable.error;
  const chunks = sources.flatMap((source) =>
    source.draft.excerpts.flatMap((text) =>
      chunkMarkdown(text).map((chunk) => ({ ...chunk, source })),
    ),
  );
  const texts = chunks.map(({ text }) => text);
  const embedded = await embedder.embed(texts);
  const passages = chunks.map((chunk, at) => ({
    ...chunk,
    vector: embedded[at] ?? new Float32Array(),
  }));
  return { passages, vectors: new VectorScan(passages), words: new WordIndex(texts) };
}

/** One hit for each file, in the order of its best passage. */
function groupBySource(found: readonly Passage[], most: number): SearchHit[] {
  const groups = Map.groupBy(found, ({ source }) => source);
  return [...groups].slice(0, most).map(([{ place, draft }, passages]) => {
    const best = passages.slice(0, MOST_PASSAGES).toSorted((a, b) => a.start - b.start);
    return { place, draft: { ...draft, excerpts: best.map(({ text }) => text.trim()) } };
  });
}
