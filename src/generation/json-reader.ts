import { cleanText } from '../text/clean-text.ts';

/** JSON as data; records have no prototype tricks in them, see readJson. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonRecord;
export type JsonRecord = { [key: string]: JsonValue };

/** How reading went: `truncated` means that the text ended inside the value. */
type JsonReading =
  | { readonly kind: 'value'; readonly value: JsonValue; readonly end: number; notes: string[] }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'malformed'; readonly at: number; readonly why: string };

class Truncated extends Error {}
class Malformed extends Error {
  readonly at: number;
  constructor(at: number, why: string) {
    super(why);
    this.at = at;
  }
}

type Cursor = { readonly text: string; at: number; depth: number; readonly notes: string[] };

const DEEPEST = 200;
const PLAIN = /[^"\\]*/y;
const SPACE = /\s*/y;
const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  "'": "'",
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Reads the value that starts at `from`. Unlike JSON.parse it tells text that ends early from
 * text that is wrong, keeps both values of a key that comes twice, and takes what models write:
 * line breaks in strings, Markdown's escapes, a comma at the end. Strings come out clean: an
 * escape such as \u0000 becomes a character only here, behind the cleaning of the text.
 */
export function readJson(text: string, from = 0): JsonReading {
  const cursor: Cursor = { text, at: from, depth: 0, notes: [] };
  try {
    const value = readValue(cursor);
    return { kind: 'value', value, end: cursor.at, notes: [...new Set(cursor.notes)] };
  } catch (error) {
    if (error instanceof Truncated) return { kind: 'truncated' };
    if (error instanceof Malformed) return { kind: 'malformed', at: error.at, why: error.message };
    throw error;
  }
}

function skipSpace(cursor: Cursor): string {
  SPACE.lastIndex = cursor.at;
  SPACE.test(cursor.text);
  cursor.at = SPACE.lastIndex;
  if (cursor.at >= cursor.text.length) throw new Truncated();
  return cursor.text[cursor.at]!;
}

function readValue(cursor: Cursor): JsonValue {
  const next = skipSpace(cursor);
  if (next === '"') return readString(cursor);
  if (next === '{' || next === '[') {
    if (++cursor.depth > DEEPEST) throw new Malformed(cursor.at, 'is nested too deeply');
    const value = next === '{' ? readRecord(cursor) : readList(cursor);
    cursor.depth--;
    return value;
  }
  return readWord(cursor);
}

function readWord(cursor: Cursor): JsonValue {
  NUMBER.lastIndex = cursor.at;
  const number = NUMBER.exec(cursor.text);
  if (number) {
    cursor.at += number[0].length;
    // A number at the very end may have lost digits.
    if (cursor.at === cursor.text.length && cursor.depth > 0) throw new Truncated();
    const value = Number(number[0]);
    if (!Number.isFinite(value)) throw new Malformed(cursor.at, 'has a number that is too large');
    return value;
  }
  for (const [word, value] of WORDS) {
    const here = cursor.text.slice(cursor.at, cursor.at + word.length);
    if (here === word) {
      cursor.at += word.length;
      return value;
    }
    if (cursor.at + here.length === cursor.text.length && word.startsWith(here)) {
      throw new Truncated();
    }
  }
  if (cursor.text.slice(cursor.at) === '-') throw new Truncated();
  throw new Malformed(cursor.at, 'has something that is no value');
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  cursor.at++;
  let result = '';
  for (;;) {
    PLAIN.lastIndex = cursor.at;
    PLAIN.test(text);
    result += text.slice(cursor.at, PLAIN.lastIndex);
    cursor.at = PLAIN.lastIndex;
    if (cursor.at >= text.length) throw new Truncated();
    if (text[cursor.at] === '"') break;
    result += readEscape(cursor);
  }
  cursor.at++;
  return cleanText(result);
}

function readEscape(cursor: Cursor): string {
  const { text, at } = cursor;
  if (at + 1 >= text.length) throw new Truncated();
  const letter = text[at + 1]!;
  if (letter === 'u') {
    const hex = text.slice(at + 2, at + 6);
    if (/^[0-9a-fA-F]{4}$/.test(hex)) {
      cursor.at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    if (at + 6 > text.length && /^[0-9a-fA-F]*$/.test(hex)) throw new Truncated();
  }
  cursor.at += 2;
  // Markdown's own escapes (\_ \* \u…) keep their backslash: that is what was meant.
  return ESCAPES[letter] ?? `\\${letter}`;
}

function readList(cursor: Cursor): JsonValue[] {
  const list: JsonValue[] = [];
  cursor.at++;
  while (skipSpace(cursor) !== ']') {
    list.push(readValue(cursor));
    if (!skipComma(cursor, ']')) break;
  }
  cursor.at++;
  return list;
}

function readRecord(cursor: Cursor): JsonRecord {
  const record: JsonRecord = {};
  cursor.at++;
  while (skipSpace(cursor) !== '}') {
    if (cursor.text[cursor.at] !== '"') throw new Malformed(cursor.at, 'has a key without quotes');
    const key = readString(cursor);
    if (skipSpace(cursor) !== ':') throw new Malformed(cursor.at, 'lacks a colon after a key');
    cursor.at++;
    const value = readValue(cursor);
    if (key === '__proto__') cursor.notes.push('the key "__proto__" was left out');
    else if (Object.hasOwn(record, key)) {
      cursor.notes.push(`the key "${key}" came twice and was merged`);
      record[key] = mergeTwice(record[key]!, value);
    } else record[key] = value;
    if (!skipComma(cursor, '}')) break;
  }
  cursor.at++;
  return record;
}

/** True if another item may follow. */
function skipComma(cursor: Cursor, close: string): boolean {
  const next = skipSpace(cursor);
  if (next === close) return false;
  if (next !== ',') throw new Malformed(cursor.at, 'lacks a comma or has a stray quote');
  cursor.at++;
  return true;
}

/** Both values of a key that came twice, since either may hold what the other lacks. */
function mergeTwice(first: JsonValue, second: JsonValue): JsonValue {
  if (Array.isArray(first) && Array.isArray(second)) {
    const had = new Set(first.map((item) => JSON.stringify(item)));
    return [...first, ...second.filter((item) => !had.has(JSON.stringify(item)))];
  }
  if (isRecord(first) && isRecord(second)) {
    const merged = { ...first };
    for (const [key, value] of Object.entries(second)) {
      merged[key] = Object.hasOwn(first, key) ? mergeTwice(first[key]!, value) : value;
    }
    return merged;
  }
  if (typeof first === 'string' && typeof second === 'string') {
    if (first.includes(second)) return first;
    return second.includes(first) ? second : `${first}\n\n${second}`;
  }
  return second ?? first;
}

/** True for JSON objects: neither null nor a list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
