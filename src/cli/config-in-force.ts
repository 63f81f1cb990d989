import {
  type Environment,
  type FolderPart,
  keyVariables,
  PRESET_NAMES,
  type PriceOverride,
  urlVariables,
} from '../models/config.ts';
import { isRecord } from '../text/is-record.ts';
import { listFields, readFields } from './config-fields.ts';
import { type ConfigurationSources, mergeFiles, type ParsedFile } from './configuration.ts';
import { showEnd } from './find-keys.ts';
import { keyStorePath } from './key-store.ts';
import type { MergedConfiguration } from './merge-configuration.ts';

/** A field with the value that commands use, and where that comes from. */
export type FieldInForce = {
  readonly field: string;
  readonly value: unknown;
  readonly unit: string;
  readonly from: string;
};

/**
 * What holds for the next command: defaults, then the user's own file, the stored keys, this folder's
 * file and the environment, each over those before it. Of a secret only the end is in it.
 */
export function findInForce(
  sources: ConfigurationSources,
  environment: Environment,
): FieldInForce[] {
  const merged = mergeFiles(sources);
  const layers = [
    ...listFields().flatMap(({ path, unit, default: value }) =>
      value === null ? [] : [{ field: path, value, unit, from: 'default' }],
    ),
    ...fromFiles(merged, sources),
    ...fromPrices(merged, sources),
  ];
  const all = [...layers, ...fromEnvironment(environment, layers, merged.folder)];
  return [...new Map(all.map((one) => [one.field, one])).values()]
    .map(hideSecret)
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

const fieldsOf = (file: ParsedFile | null): ReadonlyMap<string, string> =>
  new Map(
    file === null
      ? []
      : readFields(file.path, file.content).map(({ path, value }) => [path, JSON.stringify(value)]),
  );

/** The fields of the files as they are merged, each with the file whose value it has. */
function fromFiles(
  { configuration }: MergedConfiguration,
  { own, keys, found }: ConfigurationSources,
): FieldInForce[] {
  const folders = fieldsOf(found);
  return readFields('', configuration).map(({ path, value, unit, keys: [section, name] }) => {
    const isFolders = folders.get(path) === JSON.stringify(value);
    const isStored =
      section === 'providers' && path.endsWith('.apiKey') && keys.get(name ?? '') === value;
    const from = isFolders ? found?.path : isStored ? keyStorePath() : own?.path;
    return { field: path, value, unit, from: from ?? '' };
  });
}

/** Prices of a folder, beside those that the user's own file does not set higher. */
function fromPrices(
  { configuration, folder }: MergedConfiguration,
  { found }: ConfigurationSources,
): FieldInForce[] {
  const models = Object.entries(folder.prices).map(([id, price]) => [id, { price }] as const);
  return readFields('', { models: Object.fromEntries(models) }).flatMap(
    ({ path, value, unit, keys: [, id = '', , rate = ''] }) => {
      const own = configuration.models?.[id]?.price?.[rate as keyof PriceOverride] ?? 0;
      if (Number(value) <= own) return [];
      return [{ field: path, value, unit, from: `${found?.path ?? ''}, where it is higher` }];
    },
  );
}

const keyField = (name: string, value: string, from: string): FieldInForce => ({
  field: `providers.${name}.apiKey`,
  value,
  unit: '',
  from,
});

/** Keys and addresses that variables give to the known providers and to those of the files. */
function fromEnvironment(
  environment: Environment,
  set: readonly FieldInForce[],
  folder: FolderPart,
): FieldInForce[] {
  const named = set.flatMap(({ field }) => /^providers\.([^.]+)\./.exec(field)?.[1] ?? []);
  const isSet = (variable: string): boolean => Boolean(environment[variable]?.trim());
  return [...new Set([...PRESET_NAMES, ...named])].flatMap((name) => {
    const own = set.findLast(({ field }) => field === `providers.${name}.apiKeyEnv`)?.value;
    const keyNames = keyVariables(name, typeof own === 'string' ? own : undefined, folder);
    const key = keyNames.find(isSet);
    const url = urlVariables(name, folder).find(isSet);
    return [
      ...(key === undefined ? [] : [keyField(name, environment[key]?.trim() ?? '', key)]),
      ...(url === undefined ? [] : [urlField(name, environment[url]?.trim() ?? '', url)]),
    ];
  });
}

const urlField = (name: string, value: string, from: string): FieldInForce => ({
  field: `providers.${name}.baseUrl`,
  value,
  unit: 'address',
  from,
});

function hideSecret(one: FieldInForce): FieldInForce {
  const { field, value } = one;
  if (field.endsWith('.apiKey')) return { ...one, value: showEnd(String(value)) ?? '…' };
  if (!field.endsWith('.headers') || !isRecord(value)) return one;
  return { ...one, value: Object.fromEntries(Object.keys(value).map((name) => [name, '…'])) };
}
