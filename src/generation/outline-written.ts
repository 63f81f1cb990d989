import { jsonrepair } from 'jsonrepair';
import { entryPortion, GUIDANCE_SECTION, isWithin } from '../recipe/portions.ts';
import { isRecord, type JsonValue, readJson } from './json-reader.ts';

/**
 * The portions of an answer that was cut which are whole: all that it has but the last, in which it
 * stopped. None where the text cannot be read.
 */
export function findComplete(soFar: string, asked: readonly string[]): string[] {
  const start = soFar.indexOf('{');
  if (start === -1) return [];
  const found = readPortions(soFar.slice(start)).slice(0, -1);
  return asked.filter((portion) => found.some((one) => isWithin(portion, one)));
}

function readPortions(text: string): string[] {
  const reading = readJson(close(text));
  if (reading.kind !== 'value' || !isRecord(reading.value)) return [];
  const { content } = reading.value;
  return Object.entries(isRecord(content) ? content : reading.value).flatMap(([key, value]) =>
    key === GUIDANCE_SECTION && Array.isArray(value) ? value.map(nameEntry) : [key],
  );
}

function nameEntry(entry: JsonValue): string {
  const key = isRecord(entry) ? entry['document_key'] : '';
  return entryPortion(typeof key === 'string' ? key : '');
}

/** The text with its open strings, lists and records closed. */
function close(text: string): string {
  try {
    return jsonrepair(text);
  } catch {
    return '';
  }
}
