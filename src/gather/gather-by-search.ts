import { canonicalUrl } from '../sources/canonical-key.ts';
import type { SourceDraft } from '../sources/source.ts';
import { type GatherOptions, gatherSources } from './gather-sources.ts';
import type { Gathered } from './gathered-source.ts';
import type { SearchHit, SearchOptions, SearchProvider } from './search-provider.ts';

/**
 * Searches for each query and gathers what was found, each place once, the best of the first query
 * first. Pages of the web are fetched, so that the whole text is there to be cited; of one that cannot
 * be, the snippet of the search stands in its place, and the source is degraded. A hit in a folder is
 * the file with the passages that were found.
 */
export async function gatherBySearch(
  provider: SearchProvider,
  queries: readonly string[],
  options: GatherOptions & SearchOptions = {},
): Promise<Gathered> {
  const { most, signal } = options;
  const limits = { ...(most !== undefined && { most }), ...(signal && { signal }) };
  const hits = new Map<string, SearchHit>();
  for (const query of queries) {
    for (const hit of await provider.search(query, limits)) {
      const key = keyOf(hit);
      const known = hits.get(key);
      hits.set(key, known === undefined ? hit : withPassages(known, hit));
    }
  }
  const found = [...hits.values()];
  const files = found.filter(({ draft }) => draft.url === undefined);
  const pages = found.filter(({ draft }) => draft.url !== undefined);
  const { sources, refused } = await gatherSources(
    pages.map(({ place }) => place),
    options,
  );
  const told = new Map(pages.map(({ place, draft }) => [place, draft]));
  return {
    sources: [
      ...files.map(({ place, draft }) => ({ place, draft })),
      ...sources.map((source) => ({
        ...source,
        draft: complete(source.draft, told.get(source.place)),
      })),
    ],
    refused,
  };
}

const keyOf = ({ place, draft }: SearchHit): string =>
  draft.url === undefined ? place : (canonicalUrl(draft.url) ?? place);

/** One file with the passages that several queries found in it. */
const withPassages = (known: SearchHit, found: SearchHit): SearchHit => ({
  ...known,
  draft: {
    ...known.draft,
    excerpts: [...new Set([...known.draft.excerpts, ...found.draft.excerpts])],
  },
});

/** What the page says wins over what the search tells of it. */
function complete(page: SourceDraft, told: SourceDraft | undefined): SourceDraft {
  if (told === undefined) return page;
  if (page.degraded === undefined) {
    // A page without a title has its address for one.
    return { ...told, ...page, title: page.title === page.url ? told.title : page.title };
  }
  return { ...told, degraded: page.degraded };
}
