import { DialecticError } from '../errors/errors.ts';
import { gatherBySearch } from '../gather/gather-by-search.ts';
import { type GatherOptions, gatherSources } from '../gather/gather-sources.ts';
import { type Gathered, giveSource } from '../gather/gathered-source.ts';
import { openSearch, type SearchAccess } from '../gather/open-search.ts';
import { readSourcesSettings, type SourcesSettings } from '../gather/sources-settings.ts';
import type { GivenSource } from '../sources/source-copies.ts';
import { toLine } from '../text/clean-text.ts';
import { readConfigurationFiles } from './configuration.ts';
import { readStoredKeys } from './key-store.ts';
import { tell } from './output.ts';

/** What is searched for, how many hits of each query are taken, and who pays a search of the web. */
export type Search = {
  readonly queries: readonly string[];
  readonly most: number;
  readonly pay?: (service: string, searches: number) => Promise<Paid>;
};

/** What was paid; `giveBack` is called with how many searches the service did not answer. */
type Paid = { readonly giveBack: (unanswered: number) => Promise<void> };

/**
 * Reads the files, folders and addresses that a person named as sources; with a search only what it
 * finds. A place that was named and cannot be read is an error; what cannot be read within a folder
 * is told and left out.
 */
export async function gatherPlaces(
  places: readonly string[],
  search: Search = { queries: [], most: 0 },
): Promise<GivenSource[]> {
  const isSearch = search.queries.length > 0;
  if (places.length === 0 && !isSearch) return [];
  const { configuration, folder } = readConfigurationFiles();
  const settings = readSourcesSettings(configuration);
  const { allowPrivate } = settings;
  const options = allowPrivate === undefined ? {} : { allowPrivate };
  const { sources, refused } = isSearch
    ? await searchPlaces(places, search, settings, { ...options, isFolders: folder.search })
    : await gatherSources(places, options);
  for (const { place, error } of refused) {
    if (places.includes(place)) throw error;
    tell(`Left out: ${toLine(error.message)}`);
  }
  for (const { draft } of sources) {
    if (draft.degraded !== undefined)
      tell(toLine(`Not checked: ${draft.title}: ${draft.degraded}`));
  }
  if (sources.length > 0) return sources.map(giveSource);
  const missing = isSearch ? 'Nothing was found' : 'There is no source';
  const where = places.length === 0 ? '' : ` in ${places.join(', ')}`;
  throw new DialecticError('usage_invalid', `${missing}${where}.`);
}

/** Searches the named folders, or the web where the configuration names a service. */
async function searchPlaces(
  places: readonly string[],
  { queries, most, pay }: Search,
  settings: SourcesSettings,
  { isFolders, ...options }: GatherOptions & Pick<SearchAccess, 'isFolders'>,
): Promise<Gathered> {
  const isFolder = (settings.search ?? 'folder') === 'folder';
  if (isFolder === (places.length === 0)) {
    const message = isFolder
      ? '--search looks into the folders that are named. To search the web, set sources.search.'
      : `--search asks ${settings.search}, and looks into no folder.`;
    throw new DialecticError('usage_invalid', message);
  }
  const access = { environment: process.env, keys: readStoredKeys(), isFolders };
  const found: Gathered[] = [];
  for (const folder of isFolder ? places : ['']) {
    const provider = openSearch(settings, folder, access, options);
    const paid = isFolder ? undefined : await pay?.(provider.name, queries.length);
    let unanswered = queries.length;
    const onAnswered = (): void => {
      unanswered -= 1;
    };
    try {
      found.push(await gatherBySearch(provider, queries, { ...options, most, onAnswered }));
    } finally {
      if (unanswered > 0) await paid?.giveBack(unanswered);
    }
  }
  return {
    sources: found.flatMap((one) => one.sources),
    refused: found.flatMap((one) => one.refused),
  };
}
