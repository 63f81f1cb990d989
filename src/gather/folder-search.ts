import type { Embedded, Embedder } from '../context/embedder.ts';
import { lexicalEmbedder } from '../context/lexical-embedder.ts';
import { highest, serveQuestion } from '../context/rank-chunks.ts';
import { chunkPieces, findPieces, isNarrowed } from '../context/search-texts.ts';
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

type Text = { readonly source: GatheredSource; readonly text: string };
type Passage = Embedded & { readonly source: GatheredSource; readonly start: number };
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
  let gathered: Promise<readonly Text[]> | undefined;
  let whole: Promise<Index> | undefined;
  return {
    name: 'folder',
    async search(query, { most = MOST_HITS }: SearchOptions = {}) {
      gathered ??= readTexts(folder, options);
      const texts = await gathered;
      // Of long texts the stretches that have the query's words are searched, other ones for each.
      const isLong = isNarrowed(texts.map(({ text }) => text));
      const index = isLong
        ? readIndex(texts, query, embedder)
        : (whole ??= readIndex(texts, query, embedder));
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

async function readTexts(folder: string, options: GatherOptions): Promise<readonly Text[]> {
  const { sources, refused } = await gatherSources([folder], options);
  const unusable = refused.find(({ place }) => place === folder);
  if (unusable !== undefined) throw unusable.error;
  return sources.flatMap((source) => source.draft.excerpts.map((text) => ({ source, text })));
}

async function readIndex(
  texts: readonly Text[],
  query: string,
  embedder: Embedder,
): Promise<Index> {
  const bodies = texts.map(({ text }) => text);
  const pieces = await findPieces(bodies, [query]);
  const chunked = await chunkPieces(pieces);
  const chunks = pieces.flatMap(({ body, text, start }) =>
    (chunked.get(body) ?? []).map((chunk) => {
      return { text: chunk.text, start: start + chunk.start, source: texts[text]!.source };
    }),
  );
  const parts = chunks.map(({ text }) => text);
  const embedded = await embedder.embed(parts);
  const passages = chunks.map((chunk, at) => ({
    ...chunk,
    vector: embedded[at] ?? new Float32Array(),
  }));
  return { passages, vectors: new VectorScan(passages), words: await WordIndex.over(parts) };
}

/** One hit for each file, in the order of its best passage. */
function groupBySource(found: readonly Passage[], most: number): SearchHit[] {
  const groups = Map.groupBy(found, ({ source }) => source);
  return [...groups].slice(0, most).map(([{ place, draft }, passages]) => {
    const best = passages.slice(0, MOST_PASSAGES).toSorted((a, b) => a.start - b.start);
    return { place, draft: { ...draft, excerpts: best.map(({ text }) => text.trim()) } };
  });
}
