import { safeCell, safeInline } from '../text/markdown-text.ts';
import { findMarkers, replaceSpans } from './markers.ts';
import { findProse } from './prose-spans.ts';
import type { Source } from './source.ts';

/** Finds the source of an id; undefined where there is none. */
export type FindSource = (id: string) => Source | undefined;

/**
 * The document with footnotes for its citations, numbered by their first appearance, and what was
 * cited at its end. Ids that no source has stay as they are. Where nothing is cited, what there is to
 * read is listed under References.
 */
export function formatFootnotes(
  text: string,
  find: FindSource,
  all: Iterable<Source> = [],
): string {
  const markers = findMarkers(text, findProse(text));
  const numbers = new Map<string, number>();
  const first = firstFree(text);
  const numberOf = (id: string): string => {
    const standing = find(id)?.aliasOf ?? id;
    if (find(standing) === undefined) return `[${id}]`;
    const number = numbers.get(standing) ?? numbers.size + first;
    numbers.set(standing, number);
    return `[^${number}]`;
  };
  const body = replaceSpans(
    text,
    markers.map((marker) => ({ ...marker, by: [...new Set(marker.ids.map(numberOf))].join('') })),
  );
  const uses = Map.groupBy(
    markers.flatMap(({ ids }) => ids),
    (id) => find(id)?.aliasOf ?? id,
  );
  const cited = [...numbers].flatMap(([id, number]) => {
    const source = find(id);
    return source ? [{ source, number, uses: uses.get(id)?.length ?? 0 }] : [];
  });
  if (cited.length === 0) return withReferences(body, all);
  const notes = cited.map(({ source, number }) => `[^${number}]: ${describeSource(source)}`);
  const rows = cited.map(
    ({ source, uses: count }) =>
      `| ${source.id} | ${safeCell(source.title)} | ${addressOf(source)} | ${count} |`,
  );
  return `${body.trimEnd()}

## Footnotes

${notes.join('\n')}

## Sources

| id | title | address | cited |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** A page taken apart again: its text, and what formatFootnotes has put at its end. */
export function splitNotes(page: string): { readonly text: string; readonly notes: string } {
  const at = Math.max(page.lastIndexOf('\n## Footnotes\n'), page.lastIndexOf('\n## References\n'));
  return at === -1
    ? { text: page, notes: '' }
    : { text: page.slice(0, at).trimEnd(), notes: page.slice(at + 1) };
}

/** The text with links to a page of sources in place of its citations. */
export function linkMarkers(text: string, find: FindSource, page: string): string {
  const markers = findMarkers(text, findProse(text)).filter(({ ids }) =>
    ids.every((id) => find(id) !== undefined),
  );
  return replaceSpans(
    text,
    markers.map(({ start, end, ids }) => ({
      start,
      end,
      by: ids.map((id) => `[${id}](${page})`).join(' '),
    })),
  );
}

function withReferences(body: string, all: Iterable<Source>): string {
  const lines = [...all].map((source) => `- ${describeSource(source)}`);
  return lines.length === 0 ? body : `${body.trimEnd()}\n\n## References\n\n${lines.join('\n')}\n`;
}

/** Footnotes that the document has already keep their numbers. */
function firstFree(text: string): number {
  const taken = [...text.matchAll(/\[\^(\d{1,6})\]/g)].map(([, number]) => Number(number));
  return taken.reduce((most, number) => Math.max(most, number), 0) + 1;
}

/** Shown as a link; a pipe would end the cell that holds it. */
const addressOf = ({ url }: Pick<Source, 'url'>): string =>
  url === undefined ? '' : `<${url.replace(/[\s<>|]/g, encodeURIComponent)}>`;

/** Title, who published it, the year and the address, as a footnote gives them. */
function describeSource({ title, author, publisher, year, url }: Source): string {
  const by = [author, publisher].filter((name) => name !== undefined && name !== '').join(', ');
  const parts = [
    safeInline(title),
    by === '' ? '' : ` — ${safeInline(by)}`,
    year === undefined ? '' : ` (${year})`,
    url === undefined ? '' : ` ${addressOf({ url })}`,
  ];
  return parts.join('');
}
