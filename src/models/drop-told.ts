import type { JsonSchema } from './types.ts';

type Node = { readonly [keyword: string]: unknown };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The schema without the descriptions that the prompt gives in the same words. Providers bill a schema
 * as input, and most of it are descriptions that prompts list section by section.
 */
export function dropTold(schema: JsonSchema, prompt: string): JsonSchema {
  const visit = (node: unknown): unknown => {
    if (!isNode(node)) return node;
    const told = node['description'];
    const isTold = typeof told === 'string' && prompt.includes(told.trim());
    const entries = Object.entries(node).filter(
      ([keyword]) => keyword !== 'description' || !isTold,
    );
    return Object.fromEntries(entries.map(([keyword, value]) => [keyword, inner(keyword, value)]));
  };
  // Below `properties` the keys are names, and one of them may be "description".
  const inner = (keyword: string, value: unknown): unknown => {
    if (keyword === 'items') return visit(value);
    if (keyword !== 'properties' || !isNode(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, visit(child)]));
  };
  return visit(schema) as JsonSchema;
}
