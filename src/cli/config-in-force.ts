import { type Environment, findKeyVariable, PRESET_NAMES, presetOf } from '../models/config.ts';
import { isRecord } from '../text/is-record.ts';
import { listFields, readFields, type SetField } from './config-fields.ts';
import type { ConfigurationSources, ParsedFile } from './configuration.ts';
import { showEnd } from './find-keys.ts';
import { keyStorePath } from './key-store.ts';

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
  { own, keys, found }: ConfigurationSources,
  environment: Environment,
): FieldInForce[] {
  const layers = [
    ...listFields().flatMap(({ path, unit, default: value }) =>
      value === null ? [] : [{ field: path, value, unit, from: 'default' }],
    ),
    ...fromFile(own),
    ...[...keys].map(([name, value]) => keyField(name, value, keyStorePath())),
    ...fromFile(found),
  ];
  const all = [...layers, ...fromEnvironment(environment, layers)];
  return [...new Map(all.map((one) => [one.field, one])).values()]
    .map(hideSecret)
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));
}

const fromFile = (file: ParsedFile | null): FieldInForce[] =>
  file === null
    ? []
    : readFields(file.path, file.content).map(({ path, value, unit }: SetField) => ({
        field: path,
        value,
        unit,
        from: file.path,
      }));

const keyField = (name: string, value: string, from: string): FieldInForce => ({
  field: `providers.${name}.apiKey`,
  value,
  unit: '',
  from,
});

/** Keys and addresses that variables give to the known providers and to those of the files. */
function fromEnvironment(environment: Environment, set: readonly FieldInForce[]): FieldInForce[] {
  const named = set.flatMap(({ field }) => /^providers\.([^.]+)\./.exec(field)?.[1] ?? []);
  return [...new Set([...PRESET_NAMES, ...named])].flatMap((name) => {
    const own = set.findLast(({ field }) => field === `providers.${name}.apiKeyEnv`)?.value;
    const key = findKeyVariable(environment, name, typeof own === 'string' ? own : undefined);
    const url = presetOf(name).urlNames.find((variable) => environment[variable]?.trim());
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
