import { GUIDANCE_SECTION } from '../recipe/portions.ts';
import { isRecord, type JsonRecord, type JsonValue } from './json-reader.ts';

/**
 * The sections of an earlier attempt with those of a later one over them. The guidance of a stage's
 * plan may come entry by entry: of two for the same document the later one holds.
 */
export function keepOver(earlier: JsonRecord, later: JsonRecord): JsonRecord {
  const [before, after] = [earlier[GUIDANCE_SECTION], later[GUIDANCE_SECTION]];
  if (!Array.isArray(before) || !Array.isArray(after)) return { ...earlier, ...later };
  const written = new Set(after.map(keyOf));
  const kept = before.filter((entry) => !written.has(keyOf(entry)));
  return { ...earlier, ...later, [GUIDANCE_SECTION]: [...kept, ...after] };
}

const keyOf = (entry: JsonValue): JsonValue =>
  isRecord(entry) ? (entry['document_key'] ?? '') : '';
