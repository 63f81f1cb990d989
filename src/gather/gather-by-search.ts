import { canonicalUrl } from '../sources/canonical-key.ts';
import type { SourceDraft } from '../sources/source.ts';
import { type GatherOptions, gatherSources } from './gather-sources.ts';
import type { Gathered } from './gathered-source.ts';
import type { SearchHit, SearchOptions, SearchProvider } from './search-provider.ts';

/**
 * Searches for each query and gathers what was found, each place once, the best of the first query
 * first. Files and pages are read whole, so that a file is the same source as without a search and all
 * of it can be cited; of a page that cannot be fetched the snippet of the search stands in its place,
 * and the source is degraded.
 */
export async function gatherBySearch(
  provider: SearchProvider,
  queries: readonly string[],
  options: GatherOptions & SearchOptions = {},
): Promise<Gathered> {
  const { most, signal, onAnswered } = options;
  const limits = {
    ...(most !== undefined && { most }),
    ...(signal && { signal }),
    ...(onAnswered && { onAnswered }),
  };
  const hits = new Map<string, SearchHit>();
  for (const query of queries) {
    for (const hit of await provider.search(query, limits)) {
      const key = keyOf(hit);
      if (!hits.has(key)) hits.set(key, hit);
    }
  }
  const told = new Map([...hits.values()].map(({ place, draft }) => [place, draft]));
  const { sources, refused } = await gatherSources([...told.keys()], options);
  return {
    sources: sources.map((source) => ({
      ...source,
      draft: complete(source.draft, told.get(source.place)),
    })),
    refused,
  };
}

const keyOf = ({ place, draft }: SearchHit): string =>
  draft.url === undefined ? place : (canonicalUrl(draft.url) ?? place);

/** What the file or page says wins over what the search tells of it. */
function complete(read: SourceDraft, told: SourceDraft | undefined): SourceDraft {
  if (told === undefined) return read;
  if (read.degraded === undefined) {
    // A page without a title has its address for one.
    return { ...told, ...read, title: read.title === read.url ? told.title : read.title };
  }
  return { ...told, degraded: read.degraded };
}
