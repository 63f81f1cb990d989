import { readText, saysNothing } from './read-values.ts';

const ID = /^[\p{L}]{1,8}[-_. ]?\d+(?:[.-][\p{L}]?\d+)*[a-z]?(?![\p{L}\d])/u;
const SPAN = /^([\p{L}]{1,8}[-_ ]?)(\d+)\s*(?:-|–|—|to|bis)\s*(?:\1)?(\d+)$/iu;
const LONGEST_SPAN = 50;

/** The ids in `["D1"]`, `"D1, D2"`, `"D1 and D2"`, `"D1-D3"` or `"W4: build the page"`. */
export function readIds(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(readIds))];
  if (typeof value === 'object' && value !== null && 'id' in value) return readIds(value.id);
  const text = readText(value);
  if (saysNothing(text)) return [];
  const parts = text.split(/[,;\n]|\s(?:and|und|&)\s/).map((part) => part.trim());
  return [...new Set(parts.filter((part) => !saysNothing(part)).flatMap(expandSpan))];
}

function expandSpan(part: string): string[] {
  const [, prefix, first, last] = SPAN.exec(part) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (prefix === undefined || !(count > 1 && count <= LONGEST_SPAN)) {
    return [ID.exec(part)?.[0] ?? part];
  }
  return Array.from({ length: count }, (_, at) => `${prefix}${Number(first) + at}`);
}

/** What two spellings of one id share: `D-01`, `d1` and `D 1` are the same. */
export function idKey(id: string): string {
  return id
    .trim()
    .toUpperCase()
    .replaceAll(/[\s_]+/g, '')
    .replaceAll(/(\p{L})[-.]?0*(\d)/gu, '$1$2');
}

/** W2 before W10, and a fixed order for everything else. */
export function compareIds(a: string, b: string): number {
  const [left, right] = [splitId(a), splitId(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const order = compareParts(left[at], right[at]);
    if (order !== 0) return order;
  }
  return compareTexts(a, b);
}

const splitId = (id: string): (string | number)[] =>
  (idKey(id).match(/\d+|\D+/g) ?? []).map((part) => (/\d/.test(part) ? Number(part) : part));

function compareParts(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  return compareTexts(String(a), String(b));
}

/** By code unit, the same on every machine. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
