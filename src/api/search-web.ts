import { gatherBySearch } from '../gather/gather-by-search.ts';
import { giveSource } from '../gather/gathered-source.ts';
import { openSearch, type SearchAccess } from '../gather/open-search.ts';
import type { SourcesSettings } from '../gather/sources-settings.ts';
import type { SearchWeb } from '../handlers/handler-deps.ts';

/** So many hits of the service are read for each query. */
const MOST_HITS = 5;

/**
 * The search of research stages with the service that the settings name; undefined for a folder, whose
 * files are searched as sources of the project. It is opened when a step searches, so that only then a
 * service without its key is an error.
 */
export function searchWeb(settings: SourcesSettings, access: SearchAccess): SearchWeb | undefined {
  const { search = 'folder', allowPrivate = [] } = settings;
  if (search === 'folder') return undefined;
  return {
    service: search,
    search: async (queries, signal, onAnswered) => {
      const provider = openSearch(settings, '.', access);
      const options = { most: MOST_HITS, signal, allowPrivate, onAnswered };
      const { sources } = await gatherBySearch(provider, queries, options);
      return sources.map(giveSource);
    },
  };
}
