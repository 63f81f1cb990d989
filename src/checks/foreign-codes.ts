import { compareIds, idKey, readIds } from './ids.ts';

const CODE = /(?<![\p{L}\p{N}.-])([A-Z]{1,4})-?\d{1,3}(?:\.\d{1,3})*(?![\p{L}\p{N}])/gu;
/** A4 and TLS1.3 are names; three of a kind are a numbering. */
const SMALLEST_FAMILY = 3;

/**
 * The codes (D4, F12, M-3.1) in a text that no record of its own content defines by `id`, or says
 * what became of by `finding`.
 */
export function findForeignCodes(text: string, content: unknown): string[] {
  const own = new Set<string>();
  collectIds(content, own);
  const families = new Map<string, Set<string>>();
  for (const [code, family] of text.matchAll(CODE)) {
    families.set(family!, (families.get(family!) ?? new Set()).add(idKey(code)));
  }
  return [...families.values()]
    .filter((codes) => codes.size >= SMALLEST_FAMILY)
    .flatMap((codes) => [...codes])
    .filter((code) => !own.has(code))
    .toSorted(compareIds);
}

function collectIds(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collectIds(one, into);
  else if (typeof value === 'object' && value !== null) {
    for (const id of readIds([Reflect.get(value, 'id'), Reflect.get(value, 'finding')])) {
      into.add(idKey(id));
    }
    for (const one of Object.values(value)) collectIds(one, into);
  }
}
