import { canonicalUrl } from './canonical-key.ts';
import { type Claim, findClaims } from './claims.ts';
import type { FindSource } from './footnotes.ts';
import { onceForTexts } from './long-texts.ts';
import { findFlagged, findMalformed, findMarkers, plainMarkers } from './markers.ts';
import { matchSpans } from './match-spans.ts';
import { findProse, type Prose, type Span } from './prose-spans.ts';
import type { Source } from './source.ts';

type CitationDefectCode =
  | 'unknown_source'
  | 'malformed_marker'
  | 'invented_address'
  | 'quote_not_in_source'
  | 'number_not_in_source'
  | 'uncited_statement';

/** Something wrong with the citations of a document. */
export type CitationDefect = {
  readonly code: CitationDefectCode;
  /** The line of the document, from 1. */
  readonly line: number;
  /** What is wrong, as it stands in the document. */
  readonly text: string;
};

export type CitationAudit = {
  readonly defects: readonly CitationDefect[];
  /** The sources that are cited, in the order of their first appearance. */
  readonly cited: readonly string[];
  /** The sources that are not. */
  readonly orphans: readonly string[];
  /** How many statements with a number or a quotation there are, and how many of them cite. */
  readonly statements: number;
  readonly citedStatements: number;
  /** The share of those statements that cite; 1 where there are none. */
  readonly coverage: number;
};

const ADDRESS = /https?:\/\/[^\s<>()[\]"'`]+[^\s<>()[\]"'`.,;:!?]/g;

const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1)(?![\w.-])/i;

/**
 * Compares a document's citations with the sources: that each id, quotation, number and address stands
 * in one of those that are cited. It does not judge whether a source supports a statement.
 */
export const auditCitations = (
  text: string,
  find: FindSource,
  known: readonly string[],
): CitationAudit => createAuditor(find, known)(text);

/** Texts that are no sources themselves. */
type Beside = {
  /** Addresses that stand in these are not invented. */
  readonly given?: readonly (readonly string[])[];
  /** What a person has said: a statement whose figures and quotations stand there needs no source. */
  readonly said?: readonly string[];
};

/** The same for many texts, such as the sections of a document: the sources are read once. */
export function createAuditor(
  find: FindSource,
  known: readonly string[],
  { given = [], said = [] }: Beside = {},
): (text: string) => CitationAudit {
  const sources = new SourceTexts(find);
  const own = new SourceText({ title: '', excerpts: said });
  let found: ReadonlySet<string | undefined> | undefined;
  // Most documents have no address: the texts are searched for theirs when the first one does.
  const addresses = (): ReadonlySet<string | undefined> => {
    found ??= new Set([
      ...known.flatMap((id) => find(id)?.url ?? []).map(canonicalUrl),
      ...given.flatMap(addressesIn),
    ]);
    return found;
  };
  return (text) => audit(text, find, known, { sources, addresses, own });
}

/** Tells whether a source has these words; one of which nothing was read may have any. */
export function createQuoteCheck(find: FindSource): (id: string, quote: string) => boolean {
  const sources = new SourceTexts(find);
  return (id, quote) => sources.haveWords([id], quote);
}

/** What the statements of a text are compared with. */
type Compared = {
  readonly sources: SourceTexts;
  readonly addresses: () => ReadonlySet<string | undefined>;
  readonly own: SourceText;
};

function audit(
  text: string,
  find: FindSource,
  known: readonly string[],
  { sources, addresses, own }: Compared,
): CitationAudit {
  const prose = findProse(text);
  const markers = findMarkers(text, prose);
  const claims = findClaims(text, prose, markers).filter(
    (claim) => claim.ids.length > 0 || !own.says(text, claim),
  );
  const found = [
    ...findMalformed(text, prose).map((span) => ({ ...span, code: 'malformed_marker' as const })),
    ...markers
      .filter(({ ids }) => ids.some((id) => !sources.has(id)))
      .map((marker) => ({ ...marker, code: 'unknown_source' as const })),
    ...findFlagged(text, prose).map((span) => ({ ...span, code: 'unknown_source' as const })),
    ...findInvented(text, prose, addresses),
    ...claims.flatMap((claim) => sources.compare(text, claim)),
  ].toSorted((a, b) => a.start - b.start);
  const cited = [...new Set(markers.flatMap(({ ids }) => ids))].filter((id) => sources.has(id));
  const standing = new Set(cited.map((id) => find(id)?.aliasOf ?? id));
  const citedStatements = claims.filter(({ ids }) => ids.length > 0).length;
  return {
    defects: locate(text, found),
    cited,
    orphans: known.filter((id) => !standing.has(find(id)?.aliasOf ?? id)),
    statements: claims.length,
    citedStatements,
    coverage: claims.length === 0 ? 1 : citedStatements / claims.length,
  };
}

/** The keys of the addresses in texts. */
const addressesIn = (texts: readonly string[]): readonly (string | undefined)[] =>
  onceForTexts(texts, 'addresses', () => [
    ...new Set(texts.flatMap((text) => text.match(ADDRESS) ?? []).map(canonicalUrl)),
  ]);

type Found = Span & { readonly code: CitationDefectCode };

/** Addresses that no source has; one of this machine is no reference. */
function findInvented(
  text: string,
  prose: readonly Prose[],
  given: () => ReadonlySet<string | undefined>,
): Found[] {
  if (!text.includes('http')) return [];
  const known = given();
  return prose
    .flatMap(({ start, end }) => matchSpans(ADDRESS, text.slice(start, end), start))
    .filter((found) => {
      const address = text.slice(found.start, found.end);
      return !known.has(canonicalUrl(address)) && !LOCAL.test(address);
    })
    .map((found) => ({ ...found, code: 'invented_address' as const }));
}

/** The text of a source, made comparable once, and only for what is compared. */
class SourceText {
  readonly #text: string;
  #words: string | undefined;
  #numbers: Set<string> | undefined;
  /** Whether nothing was read of the source. */
  readonly isBlank: boolean;

  static of(source: Pick<Source, 'title' | 'excerpts'>): SourceText {
    const name = `comparable ${source.title}`;
    return onceForTexts(source.excerpts, name, () => new SourceText(source));
  }

  constructor({ title, excerpts }: Pick<Source, 'title' | 'excerpts'>) {
    this.#text = [title, ...excerpts].join('\n');
    this.isBlank = excerpts.length === 0 || this.#text.trim() === '';
  }

  hasWords(words: string): boolean {
    this.#words ??= comparable(this.#text);
    return this.#words.includes(words);
  }

  /** Whether every figure and every quotation of a statement stands in it. */
  says(text: string, { quotes, numbers }: Claim): boolean {
    if (this.isBlank) return false;
    const part = ({ start, end }: Span): string => text.slice(start, end);
    return (
      numbers.every((number) => this.hasNumber(toNumber(part(number)))) &&
      quotes.every(({ start, end }) =>
        partsOf(part({ start: start + 1, end: end - 1 })).every((words) => this.hasWords(words)),
      )
    );
  }

  hasNumber(number: string): boolean {
    this.#numbers ??= new Set((this.#text.match(FIGURE) ?? []).map(toNumber));
    return this.#numbers.has(number);
  }
}

/** The texts of the sources that a document cites. */
class SourceTexts {
  readonly #find: FindSource;
  readonly #known = new Map<string, SourceText | null>();

  constructor(find: FindSource) {
    this.#find = find;
  }

  has(id: string): boolean {
    return this.#read(id) !== null;
  }

  /** What a statement says and none of the sources that it cites does. */
  compare(text: string, { ids, quotes, numbers, ...span }: Claim): Found[] {
    if (ids.length === 0) return [{ ...span, code: 'uncited_statement' }];
    const texts = this.#readAll(ids);
    if (texts.every(({ isBlank }) => isBlank)) return [];
    const isQuoted = ({ start, end }: Span): boolean =>
      this.haveWords(ids, text.slice(start + 1, end - 1));
    const isSaid = (number: Span): boolean => {
      const value = toNumber(text.slice(number.start, number.end));
      return texts.some((one) => one.hasNumber(value));
    };
    return [
      ...quotes
        .filter((quote) => !isQuoted(quote))
        .map((quote) => ({ ...quote, code: 'quote_not_in_source' as const })),
      ...numbers
        .filter((number) => !isSaid(number))
        .map((number) => ({ ...number, code: 'number_not_in_source' as const })),
    ];
  }

  /** Whether the words stand in one of the sources; in one of which nothing was read they may. */
  haveWords(ids: readonly string[], quote: string): boolean {
    const texts = this.#readAll(ids);
    if (texts.every(({ isBlank }) => isBlank)) return true;
    return partsOf(quote).every((part) => texts.some((one) => one.hasWords(part)));
  }

  #readAll(ids: readonly string[]): SourceText[] {
    return ids.map((id) => this.#read(id)).filter((one) => one !== null);
  }

  #read(id: string): SourceText | null {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const source = this.#find(id);
    const standing = source?.aliasOf === undefined ? source : this.#find(source.aliasOf);
    const read = standing ? SourceText.of(standing) : null;
    this.#known.set(id, read);
    return read;
  }
}

const FIGURE = /\d{1,99}(?:[.,]\d{1,99}){0,9}/g;

/** Quotation marks, dashes and white space may be set in another way. */
const comparable = (text: string): string =>
  plainMarkers(text.normalize('NFKC'))
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c-\u201f\u00ab\u00bb]/g, '"')
    .replace(/[\u2010-\u2015]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();

/** What stands before and behind an omission is looked for by itself. */
const partsOf = (quote: string): string[] =>
  quote
    .split(/\[?(?:\u2026|\.\.\.)\]?/)
    .map((part) => comparable(part).replace(/[.,;:!?]$/, ''))
    .filter((part) => part !== '');

/** Separators of thousands and zeros at the end of a fraction make no other number. */
const toNumber = (written: string): string => {
  const plain = written.replace(/[.,](?=\d{3}(?!\d))/g, '').replace(',', '.');
  const value = Number(plain);
  return Number.isNaN(value) ? plain : String(value);
};

/** The defects with their lines. */
function locate(text: string, found: readonly Found[]): CitationDefect[] {
  let [line, from] = [1, 0];
  return found.map(({ start, end, code }) => {
    for (
      let at = text.indexOf('\n', from);
      at !== -1 && at < start;
      at = text.indexOf('\n', from)
    ) {
      line++;
      from = at + 1;
    }
    return { code, line, text: text.slice(start, end).trim() };
  });
}
