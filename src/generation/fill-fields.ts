import type { ContractNode, FillSource } from '../recipe/types.ts';
import { onceFor } from '../text/memo.ts';
import { isRecord } from './json-reader.ts';

/** What code knows about a document and a model must not be told or trusted with. */
type FillValues = Readonly<Record<FillSource, string | number>>;

/** Writes the fields that the contract reserves for code, over whatever a model put there. */
export function fillFields(node: ContractNode, value: unknown, values: FillValues): unknown {
  const { items, properties } = node;
  if (items && Array.isArray(value)) return value.map((item) => fillFields(items, item, values));
  if (!properties || !isRecord(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [key, child] of Object.entries(properties)) {
    if (child['x-fill']) filled[key] = values[child['x-fill']];
    else if (Object.hasOwn(filled, key)) filled[key] = fillFields(child, filled[key], values);
    else if (reserves(child)) filled[key] = fillFields(child, {}, values);
  }
  return filled;
}

/** Takes those fields out again: debaters do not learn who wrote what. */
export function stripFields(node: ContractNode, value: unknown): unknown {
  if (!hasFills(node)) return value;
  const { items, properties } = node;
  if (items && Array.isArray(value)) return value.map((item) => stripFields(items, item));
  if (!properties || !isRecord(value)) return value;
  const kept = Object.entries(value).filter(
    ([key]) => !properties[key]?.['x-fill'] && !reserves(properties[key]),
  );
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      const child = properties[key];
      return [key, child ? stripFields(child, inner) : inner];
    }),
  );
}

/** Whether a document has fields that code filled in. */
export const isFilled = (node: ContractNode, value: unknown): boolean =>
  hasFills(node) && JSON.stringify(stripFields(node, value)) !== JSON.stringify(value);

/** Whether a contract reserves a field for code anywhere. */
const hasFills: (node: ContractNode) => boolean = onceFor((node) => {
  const within = [...Object.values(node.properties ?? {}), ...(node.items ? [node.items] : [])];
  return node['x-fill'] !== undefined || within.some(hasFills);
});

/** Whether a part consists of reserved fields alone. */
function reserves(node: ContractNode | undefined): boolean {
  const fields = Object.values(node?.properties ?? {});
  return fields.length > 0 && fields.every((field) => field['x-fill'] || reserves(field));
}
