import { withoutControls } from '../text/clean-text.ts';
import { bareDoi, kindOf } from './export-csl.ts';
import type { Source } from './source.ts';

/**
 * What LaTeX would act on. BibTeX counts `\{` as an open brace, so braces are written as commands; an
 * unbalanced one would otherwise swallow the entries behind it.
 */
const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\textbraceleft{}',
  '}': '\\textbraceright{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '\\textquotedbl{}',
  '#': '\\#',
  $: '\\$',
  '%': '\\%',
  '&': '\\&',
  _: '\\_',
};

/** Sources as BibTeX in UTF-8, under the ids that documents cite; aliases are left out. */
export const exportBibtex = (sources: Iterable<Source>): string =>
  [...sources]
    .filter(({ aliasOf }) => aliasOf === undefined)
    .map(toEntry)
    .join('\n');

function toEntry(source: Source): string {
  const { id, title, author, publisher, year, doi, isbn, url, degraded } = source;
  const fields: readonly (readonly [string, string | undefined])[] = [
    // The inner braces keep case, and a name from being split at its commas and ands.
    ['title', `{${escapeText(title)}}`],
    ['author', author && `{${escapeText(author)}}`],
    ['publisher', publisher && escapeText(publisher)],
    ['year', year?.toString()],
    ['doi', doi && escapeAddress(bareDoi(doi))],
    ['isbn', isbn && escapeText(isbn)],
    ['url', url && escapeAddress(url)],
    ['note', degraded === undefined ? undefined : `not checked: ${escapeText(degraded)}`],
  ];
  const lines = fields.flatMap(([name, value]) => (value ? [`  ${name} = {${value}},`] : []));
  return `@${kindOf(source) === 'book' ? 'book' : 'misc'}{${id},\n${lines.join('\n')}\n}\n`;
}

/** One line of text; letters of all scripts stay, since BibTeX files are read as UTF-8. */
const escapeText = (text: string): string =>
  withoutControls(text.normalize('NFC').toWellFormed())
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\{}~^<>|"#$%&_]/g, (sign) => SPECIAL[sign] ?? sign);

/** Styles set addresses verbatim: what no address may hold is percent-encoded, and nothing escaped. */
const escapeAddress = (url: string): string =>
  url.toWellFormed().replace(/[\s{}\\<>"^`|\p{Cc}]/gu, encodeURIComponent);
