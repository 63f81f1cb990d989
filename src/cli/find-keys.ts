import { SEARCH_KEYS } from '../gather/sources-settings.ts';
import { keyVariables, readModelsConfig } from '../models/config.ts';
import { readConfigurationFiles } from './configuration.ts';
import { keyStorePath, readStoredKeys } from './key-store.ts';

/** A key that a run would use: never the key itself. */
export type KnownKey = {
  readonly provider: string;
  /** The variable, or the file, that it comes from. */
  readonly from: string;
  /** Its last characters, to tell keys apart; null where it is too short to show any. */
  readonly end: string | null;
};

const SHOWN = 4;
/** Of a shorter one the end would be too large a part. */
const SHORTEST = 20;

/** The end of a key, for people who have several. */
export const showEnd = (key: string): string | null =>
  key.length < SHORTEST ? null : `…${key.slice(-SHOWN)}`;

/** Its end, where it has one to show, and its place. */
export const describeKey = ({ end, from }: Pick<KnownKey, 'end' | 'from'>): string =>
  end === null ? `from ${from}` : `${end}, from ${from}`;

/** The providers that have a key, and where each comes from. */
export function findKeys(): KnownKey[] {
  const stored = readStoredKeys();
  const { configuration, folder } = readConfigurationFiles();
  const { providers: files = {} } = configuration;
  const ofProviders = Object.entries(
    readModelsConfig(process.env, configuration, folder).providers,
  );
  const known = ofProviders.flatMap(([provider, { apiKey }]) => {
    if (apiKey === undefined) return [];
    const names = keyVariables(provider, files[provider]?.apiKeyEnv, folder);
    const variable = names.find((name) => process.env[name]?.trim());
    const file = stored.get(provider) === apiKey ? keyStorePath() : 'the configuration';
    return [{ provider, from: variable ?? file, end: showEnd(apiKey) }];
  });
  return [...known, ...findSearchKeys(stored)];
}

/** The same of the services that search the web. */
function findSearchKeys(stored: ReadonlyMap<string, string>): KnownKey[] {
  return Object.entries(SEARCH_KEYS).flatMap(([provider, variables]) => {
    const variable = variables.find((name) => process.env[name]?.trim());
    const key = variable === undefined ? stored.get(provider) : process.env[variable]?.trim();
    return key === undefined
      ? []
      : [{ provider, from: variable ?? keyStorePath(), end: showEnd(key) }];
  });
}
