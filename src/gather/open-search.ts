import { DialecticError } from '../errors/errors.ts';
import { checkBaseUrl, checkKey } from '../models/check-credentials.ts';
import { type Environment, firstSet } from '../models/config.ts';
import { type FolderSearchOptions, folderSearch } from './folder-search.ts';
import type { SearchProvider } from './search-provider.ts';
import { SEARCH_KEYS, type SourcesSettings } from './sources-settings.ts';
import { type WebSearch, webSearch } from './web-search.ts';

const URL_NAMES: Readonly<Record<string, readonly string[]>> = {
  searxng: ['SEARXNG_BASE_URL', 'SEARXNG_URL'],
  brave: ['BRAVE_BASE_URL'],
  tavily: ['TAVILY_BASE_URL'],
};

/** The search that the settings name: a folder, or a service with its address and key. */
export function openSearch(
  settings: SourcesSettings,
  folder: string,
  environment: Environment = {},
  options: FolderSearchOptions & { readonly keys?: ReadonlyMap<string, string> } = {},
): SearchProvider {
  const { search = 'folder' } = settings;
  if (search === 'folder') return folderSearch(folder, options);
  return webSearch(readService(search, settings, environment, options.keys));
}

function readService(
  provider: WebSearch['provider'],
  { searchUrl, searchKeyEnv }: SourcesSettings,
  environment: Environment,
  stored: ReadonlyMap<string, string> = new Map(),
): WebSearch {
  const keyNames = [...(searchKeyEnv ? [searchKeyEnv] : []), ...(SEARCH_KEYS[provider] ?? [])];
  const apiKey = firstSet(environment, keyNames) ?? stored.get(provider);
  const baseUrl = firstSet(environment, URL_NAMES[provider] ?? []) ?? searchUrl;
  if (apiKey !== undefined) checkKey(keyNames.join(' or '), apiKey);
  if (baseUrl !== undefined) checkBaseUrl('sources.searchUrl', baseUrl);
  if (provider === 'searxng' && baseUrl === undefined) {
    const message = 'There is no address of SearXNG: set SEARXNG_BASE_URL or sources.searchUrl.';
    throw new DialecticError('search_not_configured', message);
  }
  if (provider !== 'searxng' && apiKey === undefined) {
    const message =
      `There is no key for the search with ${provider}: set ${keyNames[0]}, ` +
      `or store one with: dialectic keys set ${provider}`;
    throw new DialecticError('search_not_configured', message);
  }
  return { provider, ...(baseUrl && { baseUrl }), ...(apiKey && { apiKey }) };
}
