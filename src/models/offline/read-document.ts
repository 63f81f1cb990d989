import {
  createPieceReader,
  type DocumentItem,
  isProse,
  type Piece,
  type PieceReader,
  TITLE_FIELD,
} from './piece-reader.ts';
import { readMarkdown } from './read-markdown.ts';

export type ReadDocument = {
  readonly pieces: readonly Piece[];
  readonly items: readonly DocumentItem[];
};

const known = new Map<string, ReadDocument>();
const MOST_KNOWN = 300;

/** Reads JSON or Markdown; what was read is kept, since most calls of a run share inputs. */
export function readDocument(text: string): ReadDocument {
  const before = known.get(text);
  if (before) return before;
  const reader = createPieceReader();
  const value = parseJson(text);
  if (value === undefined) readMarkdown(text, reader);
  else readValue(value, [], reader);
  const result = { pieces: reader.pieces, items: reader.finishItems() };
  if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value!);
  known.set(text, result);
  return result;
}

function parseJson(text: string): unknown {
  const bare = text.trim().replace(/^```\w*\n([\s\S]*)\n```$/, '$1');
  if (!/^[{[]/.test(bare)) return undefined;
  try {
    return JSON.parse(bare) as unknown;
  } catch {
    return undefined;
  }
}

function readValue(value: unknown, path: readonly string[], reader: PieceReader): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      if (isObject(one)) readValue(one, [...path, `#${index} ${nameOf(one)}`], reader);
      else readValue(one, path, reader);
    }
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      noteField(key, child, path, reader);
      readValue(child, [...path, key], reader);
    }
  } else if (typeof value === 'string') {
    if (value.includes('\n')) readMarkdown(value, reader, path);
    else if (isProse(value)) reader.say(value, path, false);
  } else if (typeof value === 'number') {
    const names = path.slice(-2).map((part) => part.replace(/^#\d+ /, '').replaceAll('_', ' '));
    reader.pieces.push({ text: `${names.join(', ')}: ${value}.`, path, entry: true });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameOf(record: Record<string, unknown>): string {
  const named = Object.entries(record).find(([key]) => TITLE_FIELD.test(key) || key === 'id');
  return typeof named?.[1] === 'string' ? named[1] : '';
}

/** Fields belong to a record only where that is an entry of a list. */
function noteField(
  key: string,
  child: unknown,
  path: readonly string[],
  reader: PieceReader,
): void {
  if (!path.at(-1)?.startsWith('#')) return;
  for (const one of Array.isArray(child) ? child : [child]) {
    if (typeof one === 'string' || typeof one === 'number') reader.note(path, key, String(one));
  }
}
