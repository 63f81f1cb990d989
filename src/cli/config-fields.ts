import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';
import { sourcesSection } from '../gather/sources-settings.ts';
import { jobsSection } from '../jobs/settings.ts';
import { modelsFile } from '../models/config.ts';
import { retentionSection } from '../session/retention-settings.ts';
import { isRecord } from '../text/is-record.ts';
import { nearestName } from '../text/nearest-name.ts';
import { spendingSection } from '../wallet/spending-settings.ts';

/** A field of the configuration file, for people. */
export type ConfigField = {
  /** With NAME or ID where a provider's name or a model's id stands. */
  readonly path: string;
  readonly unit: string;
  readonly meaning: string;
  /** Null where the field has none, or the meaning says it. */
  readonly default: unknown;
};

/** The part of JSON Schema that our own schemas use; a field has a description, a section none. */
type Node = {
  readonly description?: string;
  readonly unit?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
};

const SECTIONS = z.strictObject({
  ...modelsFile.shape,
  jobs: jobsSection.optional(),
  retention: retentionSection.optional(),
  spending: spendingSection.optional(),
  sources: sourcesSection.optional(),
});

/** What stands in the place of a name that the user chooses. */
const NAMES: Readonly<Record<string, string>> = { providers: 'NAME', models: 'ID' };

let schema: Node | undefined;
const readSchema = (): Node => (schema ??= z.toJSONSchema(SECTIONS, { io: 'input' }) as Node);

/** Every field of a configuration file, in the order of its sections. */
export const listFields = (): ConfigField[] => fieldsOf(readSchema(), '');

function fieldsOf(node: Node, path: string): ConfigField[] {
  if (node.description !== undefined) {
    const { description: meaning, unit = '', default: preset = null } = node;
    return [{ path, unit, meaning, default: preset }];
  }
  const { properties = {}, additionalProperties: named } = node;
  const below = typeof named === 'object' ? fieldsOf(named, join(path, NAMES[path] ?? '')) : [];
  const own = Object.entries(properties).flatMap(([key, one]) => fieldsOf(one, join(path, key)));
  return [...own, ...below];
}

/** A field that a file sets, and what it is about. */
export type SetField = {
  /** Its whole path, and the keys that it is made of: a model's id has dots of its own. */
  readonly path: string;
  readonly keys: readonly string[];
  /** The path with NAME or ID where a provider's name or a model's id stands. */
  readonly pattern: string;
  readonly value: unknown;
  readonly unit: string;
  /** Its default; undefined where it has none. */
  readonly preset: unknown;
};

/** The fields that a parsed file sets; a key that is none is refused with the nearest that is. */
export function readFields(source: string, file: unknown): SetField[] {
  return setBy(source, readSchema(), file, { keys: [], pattern: '' });
}

type Place = Pick<SetField, 'keys' | 'pattern'>;

function setBy(source: string, node: Node, value: unknown, { keys, pattern }: Place): SetField[] {
  const path = keys.join('.');
  if (node.description !== undefined) {
    return [{ path, keys, pattern, value, unit: node.unit ?? '', preset: node.default }];
  }
  // The parser of the section refuses a value that is no mapping.
  if (!isRecord(value)) return [];
  const { properties = {}, additionalProperties: named } = node;
  return Object.entries(value).flatMap(([key, one]) => {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const below = known ?? (typeof named === 'object' ? named : undefined);
    if (below === undefined) throw unknownKey(source, join(path, key), key, properties);
    const standing = known ? key : (NAMES[path] ?? key);
    return setBy(source, below, one, {
      keys: [...keys, key],
      pattern: join(pattern, standing),
    });
  });
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

function unknownKey(
  source: string,
  path: string,
  key: string,
  properties: Readonly<Record<string, Node>>,
): DialecticError {
  const known = Object.keys(properties);
  const nearest = nearestName(key, known);
  const meant =
    nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${nearest}?`;
  return new DialecticError(
    'usage_invalid',
    `${source}: ${path} is no field of the configuration; ${meant} ` +
      'All fields are listed by: dialectic config',
    { details: { path, known, nearest: nearest ?? null } },
  );
}
