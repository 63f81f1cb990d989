import type { Configuration } from '../api/open-dialectic.ts';
import {
  type Environment,
  type FolderPart,
  firstSet,
  type PriceOverride,
  presetOf,
} from '../models/config.ts';
import { isRecord } from '../text/is-record.ts';

type Section = Readonly<Record<string, unknown>>;

/** The user's configuration and a folder's as one, with what a single file cannot say. */
export type MergedConfiguration = {
  readonly configuration: Configuration;
  readonly folder: FolderPart;
};

/** What says to whom requests go, and with which key: these fields come from one place. */
const CONNECTION = ['kind', 'apiKey', 'apiKeyEnv', 'baseUrl', 'headers'];
const SEARCH = ['search', 'searchUrl', 'searchKeyEnv'];

/**
 * Puts the configuration of a folder over the user's own, field by field, but for what belongs together:
 * a provider whose address, kind, key or headers the folder sets has nothing of the user's provider of
 * that name, and the options of its models are the folder's; the same holds for the search service. An
 * address in the environment is the user's for this run and puts the folder's aside. Both files have
 * passed the parsers of their sections.
 */
export function mergeConfiguration(
  own: unknown,
  found: unknown,
  environment: Environment,
  isTrusted: boolean,
): MergedConfiguration {
  const [mine, folders] = [sectionOf(own), sectionOf(found)];
  const providers = keepAddresses(sectionOf(folders['providers']), environment);
  const moved = new Set(Object.keys(providers).filter((name) => isConnected(providers[name])));
  const models = sectionOf(folders['models']);
  const search = sectionOf(folders['sources']);
  return {
    configuration: {
      ...mine,
      ...folders,
      providers: mergeProviders(sectionOf(mine['providers']), providers),
      models: mergeModels(sectionOf(mine['models']), models, moved),
      sources: mergeSources(sectionOf(mine['sources']), search),
      ...mergeSections(mine, folders, ['jobs', 'retention', 'spending']),
    } as Configuration,
    folder: {
      providers: moved,
      search: search['searchUrl'] !== undefined,
      prices: pricesOf(models),
      isTrusted,
    },
  };
}

/** The folder's providers, without the connection of those whose address the environment names. */
function keepAddresses(providers: Section, environment: Environment): Section {
  return mapValues(providers, (provider, name) => {
    const isNamed = firstSet(environment, presetOf(name).urlNames) !== undefined;
    return isNamed ? without(sectionOf(provider), CONNECTION) : provider;
  });
}

const isConnected = (provider: unknown): boolean =>
  CONNECTION.some((field) => sectionOf(provider)[field] !== undefined);

const mergeProviders = (own: Section, found: Section): Section => ({
  ...own,
  ...mapValues(found, (provider, name) => {
    const mine = sectionOf(valueAt(own, name));
    const kept = isConnected(provider) ? without(mine, CONNECTION) : mine;
    return { ...kept, ...sectionOf(provider) };
  }),
});

function mergeModels(own: Section, found: Section, moved: ReadonlySet<string>): Section {
  const mine = mapValues(own, (model, id) =>
    moved.has(id.split('/')[0] ?? '') ? without(sectionOf(model), ['options']) : model,
  );
  const folders = mapValues(found, (model, id) => ({
    ...sectionOf(valueAt(mine, id)),
    ...without(sectionOf(model), ['price']),
  }));
  return { ...mine, ...folders };
}

function mergeSources(own: Section, found: Section): Section {
  const isMoved = SEARCH.some((field) => found[field] !== undefined);
  return { ...(isMoved ? without(own, SEARCH) : own), ...found };
}

const mergeSections = (own: Section, found: Section, names: readonly string[]): Section =>
  Object.fromEntries(
    names
      .filter((name) => own[name] !== undefined || found[name] !== undefined)
      .map((name) => [name, { ...sectionOf(own[name]), ...sectionOf(found[name]) }]),
  );

const pricesOf = (models: Section): Readonly<Record<string, PriceOverride>> =>
  Object.fromEntries(
    Object.entries(models).flatMap(([id, model]) => {
      const price = sectionOf(model)['price'];
      return price === undefined ? [] : [[id, price as PriceOverride]];
    }),
  );

const sectionOf = (value: unknown): Section => (isRecord(value) ? value : {});

const valueAt = (section: Section, key: string): unknown =>
  Object.hasOwn(section, key) ? section[key] : undefined;

const without = (section: Section, fields: readonly string[]): Section =>
  Object.fromEntries(Object.entries(section).filter(([key]) => !fields.includes(key)));

const mapValues = (section: Section, map: (value: unknown, key: string) => unknown): Section =>
  Object.fromEntries(Object.entries(section).map(([key, value]) => [key, map(value, key)]));
