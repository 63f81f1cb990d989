import type { Source } from './source.ts';

/** An item of CSL-JSON, the format of Zotero, Pandoc and citeproc, as far as sources fill it. */
type CslItem = {
  readonly id: string;
  readonly type: 'article' | 'book' | 'webpage' | 'document';
  readonly title: string;
  readonly author?: readonly { readonly literal: string }[];
  readonly publisher?: string;
  readonly issued?: { readonly 'date-parts': readonly (readonly [number])[] };
  readonly DOI?: string;
  readonly ISBN?: string;
  readonly URL?: string;
  readonly note?: string;
};

/** Sources as CSL-JSON under the ids that documents cite; an alias is given by what stands for it. */
export const exportCsl = (sources: Iterable<Source>): string =>
  `${JSON.stringify(
    [...sources].filter(({ aliasOf }) => aliasOf === undefined).map(toItem),
    null,
    2,
  )}\n`;

function toItem(source: Source): CslItem {
  const { id, title, author, publisher, year, doi, isbn, url, degraded } = source;
  return {
    id,
    type: kindOf(source),
    title,
    // The name stands as it was found: to split it into family and given names would be a guess.
    ...(author && { author: [{ literal: author }] }),
    ...(publisher && { publisher }),
    ...(year !== undefined && { issued: { 'date-parts': [[year]] } }),
    ...(doi && { DOI: bareDoi(doi) }),
    ...(isbn && { ISBN: isbn }),
    ...(url && { URL: url }),
    ...(degraded !== undefined && { note: `not checked: ${degraded}` }),
  };
}

/** A DOI without its resolver or prefix, as reference managers expect it. */
export const bareDoi = (doi: string): string =>
  doi.trim().replace(/^(?:doi:\s*|https?:\/\/(?:dx\.)?doi\.org\/)/i, '');

/** What kind of work a source is, by what identifies it. */
export function kindOf({ doi, isbn, url }: Source): CslItem['type'] {
  if (isbn) return 'book';
  if (doi) return 'article';
  return url ? 'webpage' : 'document';
}
