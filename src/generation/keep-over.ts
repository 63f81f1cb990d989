import { GUIDANCE_SECTION } from '../recipe/portions.ts';
import { isBlank } from './is-blank.ts';
import { isRecord, type JsonRecord, type JsonValue } from './json-reader.ts';

/**
 * The sections of an earlier attempt with those of a later one over them. The guidance of a stage's
 * plan may come entry by entry, and a section or an entry field by field: of two that say the same
 * the later one holds, and those that have no field in common are joined.
 */
export function keepOver(earlier: JsonRecord, later: JsonRecord): JsonRecord {
  const joined: Record<string, JsonValue> = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    const before = earlier[key];
    const isGuidance = key === GUIDANCE_SECTION && Array.isArray(before) && Array.isArray(value);
    joined[key] = isGuidance ? joinEntries(before, value) : joinFields(before, value);
  }
  return joined;
}

function joinEntries(earlier: readonly JsonValue[], later: readonly JsonValue[]): JsonValue[] {
  const written = new Set(later.map(keyOf));
  const kept = earlier.filter((entry) => !written.has(keyOf(entry)));
  const over = later.map((entry) => {
    const before = earlier.find((one) => keyOf(one) === keyOf(entry));
    if (!isRecord(before) || !isRecord(entry)) return entry;
    const said = joinFields(before['content_to_include'], entry['content_to_include'] ?? '');
    return { ...entry, content_to_include: said };
  });
  // In pieces, a document for which there is nothing to say has an entry all the same.
  return [...kept, ...over].filter((entry) => !isRecord(entry) || !isHollow(entry));
}

const isHollow = ({ content_to_include: said }: JsonRecord): boolean =>
  isRecord(said) && isBlank(said);

/** A record that was asked for in pieces; one that was written again has fields of the one before. */
function joinFields(before: JsonValue | undefined, after: JsonValue): JsonValue {
  if (!isRecord(before) || !isRecord(after)) return after;
  const isPiece = Object.keys(after).every((key) => !Object.hasOwn(before, key));
  return isPiece ? { ...before, ...after } : after;
}

const keyOf = (entry: JsonValue): JsonValue =>
  isRecord(entry) ? (entry['document_key'] ?? '') : '';
