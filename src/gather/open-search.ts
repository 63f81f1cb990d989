import { DialecticError } from '../errors/errors.ts';
import { checkBaseUrl, checkKey } from '../models/check-credentials.ts';
import { type Environment, firstSet } from '../models/config.ts';
import { quoteWord } from '../text/quote-word.ts';
import { type FolderSearchOptions, folderSearch } from './folder-search.ts';
import type { SearchProvider } from './search-provider.ts';
import { SEARCH_KEYS, type SourcesSettings } from './sources-settings.ts';
import { type WebSearch, webSearch } from './web-search.ts';

const URL_NAMES: Readonly<Record<string, readonly string[]>> = {
  searxng: ['SEARXNG_BASE_URL', 'SEARXNG_URL'],
  brave: ['BRAVE_BASE_URL'],
  tavily: ['TAVILY_BASE_URL'],
};

/** Where the address and the key of a search service come from. */
export type SearchAccess = {
  readonly environment?: Environment | undefined;
  /** The keys that the user has stored, by service. */
  readonly keys?: ReadonlyMap<string, string> | undefined;
  /** Whether the configuration of a folder gives the address: no key of the user goes there. */
  readonly isFolders?: boolean | undefined;
};

/** The search that the settings name: a folder, or a service with its address and key. */
export function openSearch(
  settings: SourcesSettings,
  folder: string,
  access: SearchAccess = {},
  options: FolderSearchOptions = {},
): SearchProvider {
  const { search = 'folder' } = settings;
  if (search === 'folder') return folderSearch(folder, options);
  return webSearch(readService(search, settings, access));
}

function readService(
  provider: WebSearch['provider'],
  { searchUrl, searchKeyEnv }: SourcesSettings,
  { environment = {}, keys, isFolders = false }: SearchAccess,
): WebSearch {
  const ownUrl = firstSet(environment, URL_NAMES[provider] ?? []);
  const baseUrl = ownUrl ?? searchUrl;
  const isOwn = !isFolders || ownUrl !== undefined;
  const ownNames = isOwn ? (SEARCH_KEYS[provider] ?? []) : [];
  const keyNames = [...(searchKeyEnv ? [searchKeyEnv] : []), ...ownNames];
  const apiKey = firstSet(environment, keyNames) ?? (isOwn ? keys?.get(provider) : undefined);
  if (apiKey !== undefined) checkKey(keyNames.join(' or '), apiKey);
  if (baseUrl !== undefined) checkBaseUrl('sources.searchUrl', baseUrl);
  if (provider === 'searxng' && baseUrl === undefined) {
    const message = 'There is no address of SearXNG: set SEARXNG_BASE_URL or sources.searchUrl.';
    throw new DialecticError('search_not_configured', message);
  }
  if (provider !== 'searxng' && apiKey === undefined) {
    const remedy = isOwn
      ? `set ${keyNames[0]}, or store one with: dialectic keys set ${quoteWord(provider)}`
      : 'the folder that sets sources.searchUrl has to name its variable with sources.searchKeyEnv';
    const message = `There is no key for the search with ${provider}: ${remedy}.`;
    throw new DialecticError('search_not_configured', message);
  }
  return { provider, ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) };
}
