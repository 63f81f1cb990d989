import { findMarkers } from '../sources/markers.ts';
import { findProse } from '../sources/prose-spans.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { isRecord } from '../text/is-record.ts';

/** A text of a document that cites a source. */
export type Mention = { readonly place: string; readonly text: string };

/** The texts of a document's content that cite a source or an alias of it, in their order. */
export function mentionsOf(content: unknown, id: string, sources: SourceSet): Mention[] {
  const cites = (text: string): boolean =>
    text.includes('[S') &&
    findMarkers(text, findProse(text)).some(({ ids }) =>
      ids.some((one) => (sources.find(one)?.aliasOf ?? one) === id),
    );
  return [...textsIn(content, '')].filter(({ text }) => cites(text));
}

function* textsIn(value: unknown, place: string): Generator<Mention> {
  if (typeof value === 'string') yield { place, text: value };
  const entries = Array.isArray(value)
    ? value.map((item, at): [string, unknown] => [String(at + 1), item])
    : isRecord(value)
      ? Object.entries(value)
      : [];
  for (const [key, field] of entries) {
    yield* textsIn(field, place === '' ? key : `${place}/${key}`);
  }
}
