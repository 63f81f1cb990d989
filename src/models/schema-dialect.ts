import type { ProviderKind } from './config.ts';
import type { JsonSchema } from './types.ts';

/** A schema as one provider takes it, and the way back from its names to ours. */
type DialectSchema = {
  readonly schema: JsonSchema;
  /** Safe name → the name in the contract. */
  readonly renamed: ReadonlyMap<string, string>;
};

type Node = Record<string, unknown>;

/** Keywords that every provider's dialect takes; annotations and the rest are left to the check. */
const KEPT = new Set(
  'title description type enum const required minimum maximum $ref format default'.split(' '),
);
const SAFE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** Anthropic refuses grammars with many optional properties; from 11 on they fail to compile. */
const MOST_OPTIONAL = 10;

/**
 * Turns a contract into what a provider accepts, or into nothing where it cannot be said in the
 * dialect: the prompt then carries the contract alone. Property names with characters that
 * schema dialects refuse (`risks_&_mitigation`) get a safe spelling.
 */
export function toDialect(
  schema: JsonSchema,
  name: string,
  kind: ProviderKind,
): DialectSchema | null {
  const renamed = new Map<string, string>();
  const result = rewrite(schema, renamed);
  result['title'] = name;
  if (kind !== 'anthropic') return { schema: result, renamed };
  if (hasOpenObject(result)) return null;
  closeObjects(result, countOptional(result) > MOST_OPTIONAL);
  return { schema: result, renamed };
}

function rewrite(schema: unknown, renamed: Map<string, string>): Node {
  const result: Node = {};
  for (const [keyword, value] of Object.entries(isNode(schema) ? schema : {})) {
    if (keyword === 'properties' || keyword === '$defs') {
      const rename = keyword === 'properties';
      result[keyword] = Object.fromEntries(
        Object.entries(isNode(value) ? value : {}).map(([key, child]) => [
          rename ? safeName(key, renamed) : key,
          rewrite(child, renamed),
        ]),
      );
    } else if (keyword === 'required' && Array.isArray(value)) {
      result[keyword] = value.map((key) => safeName(String(key), renamed));
    } else if (keyword === 'items') {
      result[keyword] = rewrite(value, renamed);
    } else if (keyword === 'anyOf' || keyword === 'oneOf') {
      result['anyOf'] = Array.isArray(value) ? value.map((child) => rewrite(child, renamed)) : [];
    } else if (keyword === 'additionalProperties') {
      result[keyword] = isNode(value) ? rewrite(value, renamed) : value;
    } else if (KEPT.has(keyword)) result[keyword] = value;
  }
  return result;
}

function safeName(key: string, renamed: Map<string, string>): string {
  if (SAFE_NAME.test(key)) return key;
  const spelled = key.replace(/[^A-Za-z0-9_]/gu, (c) => `_x${c.codePointAt(0)!.toString(16)}_`);
  const base = (/^[A-Za-z_]/.test(spelled) ? spelled : `_${spelled}`).slice(0, 58);
  for (let n = 0; ; n++) {
    const safe = n === 0 ? base : `${base}_${n}`;
    if ((renamed.get(safe) ?? key) === key) {
      renamed.set(safe, key);
      return safe;
    }
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function* nodesOf(schema: Node): Generator<Node> {
  yield schema;
  const maps = [schema['properties'], schema['$defs']].filter(isNode);
  const lists = [schema['anyOf']].filter(Array.isArray);
  const children = [...maps.flatMap(Object.values), ...lists.flat(), schema['items']];
  for (const child of children) if (isNode(child)) yield* nodesOf(child);
}

const isObject = (node: Node): boolean =>
  node['type'] === 'object' || (Array.isArray(node['type']) && node['type'].includes('object'));

function hasOpenObject(schema: Node): boolean {
  return [...nodesOf(schema)].some(
    (node) =>
      (isObject(node) && !isNode(node['properties'])) || isNode(node['additionalProperties']),
  );
}

function countOptional(schema: Node): number {
  let count = 0;
  for (const node of nodesOf(schema)) {
    const required = Array.isArray(node['required']) ? node['required'] : [];
    const keys = Object.keys(isNode(node['properties']) ? node['properties'] : {});
    count += keys.filter((key) => !required.includes(key)).length;
  }
  return count;
}

function closeObjects(schema: Node, requireAll: boolean): void {
  for (const node of nodesOf(schema)) {
    if (!isNode(node['properties'])) continue;
    node['additionalProperties'] = false;
    if (requireAll) node['required'] = Object.keys(node['properties']);
  }
}
