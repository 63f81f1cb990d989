import { compareIds, idKey, readIds } from './ids.ts';

const CODE = /(?<![\p{L}\p{N}.-])([A-Z]{1,4})-?\d{1,3}(?:\.\d{1,3})*(?![\p{L}\p{N}])/gu;
/** A4 and TLS1.3 are names; three of a kind are a numbering. */
const SMALLEST_FAMILY = 3;

/** Fields that hold ids; a reader takes them for what they are. */
const REFERENCES = ['id', 'finding', 'findings', 'demands', 'needs'];

/**
 * The codes (D4, F12, M-3.1) in the prose of a document that none of its own records defines by
 * `id`, or says what became of by `finding`.
 */
export function findForeignCodes(content: unknown): string[] {
  const own = new Set<string>();
  collectIds(content, own);
  const text = collectProse(content).join('\n');
  const families = new Map<string, Set<string>>();
  for (const [code, family = ''] of text.matchAll(CODE)) {
    families.set(family, (families.get(family) ?? new Set()).add(idKey(code)));
  }
  return [...families.values()]
    .filter((codes) => codes.size >= SMALLEST_FAMILY)
    .flatMap((codes) => [...codes])
    .filter((code) => !own.has(code))
    .toSorted(compareIds);
}

function collectProse(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectProse);
  if (typeof value !== 'object' || value === null) return [];
  const fields = Object.entries(value).filter(
    ([key, field]) => !REFERENCES.includes(key) || !isReference(field),
  );
  return fields.flatMap(([, field]) => collectProse(field));
}

/** Ids or a list of them; `demands` may also be a list of records. */
const isReference = (field: unknown): boolean =>
  [field].flat().every((one) => typeof one === 'string');

function collectIds(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collectIds(one, into);
  else if (typeof value === 'object' && value !== null) {
    for (const id of readIds([Reflect.get(value, 'id'), Reflect.get(value, 'finding')])) {
      into.add(idKey(id));
    }
    for (const one of Object.values(value)) collectIds(one, into);
  }
}
