import type { JsonSchema } from '../types.ts';
import { findIntent, type Intent } from './intents.ts';
import { toKey } from './piece-reader.ts';
import { toTerms } from './segments.ts';
import type { Query } from './term-index.ts';

/** A place of the document that wants text. */
export type Section = {
  /** In the form of `toKey`. */
  readonly key: string;
  /** Keys from the outermost section to this one. */
  readonly path: readonly string[];
  readonly intent: Intent;
  readonly query: Query;
  /** Its subject in words, for sentences about it. */
  readonly subject: string;
  readonly description: string;
};

const OWN = 3;
const PARENT = 1;
const TITLE = 1.5;
const INTENT = 1.2;
const DESCRIPTION = 0.25;

/** Reads what a place asks for off its key, title, description and what it stands in. */
export function toSection(name: string, schema: JsonSchema, parent?: Section): Section {
  const key = toKey(name);
  const { intent, words } = findIntent(key);
  const inherited = intent === 'scope' && parent ? parent : undefined;
  const query = new Map<string, number>();
  add(query, key.replaceAll('_', ' '), OWN);
  add(query, textOf(schema['title']), TITLE);
  add(query, words, INTENT);
  add(query, textOf(schema['description']), DESCRIPTION);
  if (parent) for (const [term, weight] of parent.query) raise(query, term, weight / 4);
  if (parent && parent.key !== '') add(query, parent.key.replaceAll('_', ' '), PARENT);
  return {
    key,
    path: parent ? [...parent.path, key] : [key],
    intent: inherited?.intent ?? intent,
    query,
    subject: inherited?.subject ?? key.replaceAll('_', ' '),
    description: textOf(schema['description']),
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function add(query: Map<string, number>, text: string, weight: number): void {
  for (const term of toTerms(text)) raise(query, term, weight);
}

function raise(query: Map<string, number>, term: string, weight: number): void {
  query.set(term, Math.max(query.get(term) ?? 0, weight));
}
