import { isRecord } from '../text/is-record.ts';

/** A contract: JSON Schema as plain data, with annotations that are passed over. */
export type ContractSchema = { readonly [keyword: string]: unknown };

/** What models write where a contract asks for a type: prose as a list, a list as its only entry. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  string: ['string', 'number', 'boolean', 'array'],
  array: ['array', 'string', 'object'],
  number: ['number', 'string'],
  integer: ['integer', 'string'],
};
/** Numbers may come as text. */
const NUMERALS: Readonly<Record<string, string>> = {
  number: String.raw`^\s*-?\d+(\.\d+)?\s*$`,
  integer: String.raw`^\s*-?\d+(\.0+)?\s*$`,
};

/**
 * The schema that an answer is held to. It asks for substance, not for form: what is required must
 * say something, blank options and blank entries are passed over, and fields that code fills in
 * later are not asked of the model.
 */
export function loosenContract(contract: ContractSchema): ContractSchema {
  const $defs: Definitions = {};
  return { ...loosen(contract, $defs), $defs };
}

/** Schemas of list entries by name, since a list refers to its entry twice. */
type Definitions = Record<string, ContractSchema>;

function loosen(node: ContractSchema, $defs: Definitions): ContractSchema {
  const types = typesOf(node);
  const isList = types.includes('array') && !types.includes('string');
  const isObject = types.includes('object') || (types.length === 0 && isRecord(node['properties']));
  return {
    ...loosenType(types),
    ...(Array.isArray(node['enum']) ? { 'x-one-of': node['enum'] } : {}),
    ...loosenLimits(node, types),
    ...(isList ? loosenList(node, types, $defs) : {}),
    ...(isObject && !isList ? loosenFields(node, $defs) : {}),
  };
}

/** The fields that a contract asks of the model. */
export function requiredOf(schema: ContractSchema): string[] {
  const names = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return names.filter((name) => !isFilled(propertyOf(schema, name)));
}

const typesOf = ({ type }: ContractSchema): string[] =>
  typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];

const isFilled = (node: ContractSchema): boolean => node['x-fill'] !== undefined;

function propertyOf({ properties }: ContractSchema, name: string): ContractSchema {
  const own: unknown =
    isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(own) ? own : {};
}

function loosenType(types: readonly string[]): ContractSchema {
  if (types.length === 0) return {};
  const accepted = new Set(types.flatMap((type) => ACCEPTED[type] ?? [type]));
  const readsText = types.some((type) => type === 'string' || type === 'array');
  const [numeral] = types.flatMap((type) => NUMERALS[type] ?? []);
  const pattern = readsText || numeral === undefined ? {} : { pattern: numeral };
  return { 'x-asked': types, type: [...accepted], ...pattern };
}

function loosenLimits(node: ContractSchema, types: readonly string[]): ContractSchema {
  const isNumber = types.some((type) => Object.hasOwn(NUMERALS, type));
  const { minimum, maximum, minLength } = node;
  return {
    ...(isNumber && typeof minimum === 'number' ? { 'x-minimum': minimum } : {}),
    ...(isNumber && typeof maximum === 'number' ? { 'x-maximum': maximum } : {}),
    ...(types.includes('string') && Number(minLength) > 1 ? { 'x-min-length': minLength } : {}),
  };
}

function loosenList(
  { items, minItems }: ContractSchema,
  types: readonly string[],
  $defs: Definitions,
): ContractSchema {
  const item = isRecord(items) ? define(loosen(items, $defs), $defs) : {};
  const least = typeof minItems === 'number' ? minItems : 0;
  const single = types.length > 1 ? {} : least > 1 ? { type: 'array' } : item;
  return { items: unlessBlank(item), minItems: least, if: { type: 'array' }, else: single };
}

/** A schema with parts gets a name, and with it a function of its own; others stand where they are. */
function define(schema: ContractSchema, $defs: Definitions): ContractSchema {
  if (schema['properties'] === undefined && schema['if'] === undefined) return schema;
  const name = `entry${Object.keys($defs).length}`;
  $defs[name] = schema;
  return { $ref: `#/$defs/${name}` };
}

function loosenFields(node: ContractSchema, $defs: Definitions): ContractSchema {
  const required = requiredOf(node);
  const { properties } = node;
  const names = new Set([...required, ...Object.keys(isRecord(properties) ? properties : {})]);
  const asked = [...names].filter((name) => !isFilled(propertyOf(node, name)));
  const fields = asked.map((name) => {
    const field = loosen(propertyOf(node, name), $defs);
    return [name, required.includes(name) ? { ...field, 'x-says': true } : unlessBlank(field)];
  });
  return { required, properties: Object.fromEntries(fields) };
}

const unlessBlank = (schema: ContractSchema): ContractSchema =>
  Object.keys(schema).length === 0 ? {} : { if: { 'x-blank': true }, else: schema };
