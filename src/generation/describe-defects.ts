import { countNoun } from '../text/count-noun.ts';
import type { DocumentAudit, DocumentDefect } from './audit-document.ts';

/** A defect of citations as its writer is told, with the section to mend. */
export type CitationFault = Pick<DocumentDefect, 'section' | 'code'> & { readonly message: string };

/** More than a writer can take up at once; the others show when these are mended. */
const MOST = 20;
const LONGEST = 160;

const REMEDIES: Readonly<Record<DocumentDefect['code'], (text: string) => string>> = {
  unknown_source: (text) =>
    `cites ${text}, and there is no such source. Cite an id of the list of sources, or none.`,
  malformed_marker: (text) => `has ${text}, which names no source. Cite as in [S1], or not at all.`,
  invented_address: (text) =>
    `gives the address ${text}, which no source has. Cite ids and write no addresses.`,
  quote_not_in_source: (text) =>
    `quotes ${text}, which stands in none of the sources that its sentence cites. Quote word for word, or say it without quotation marks.`,
  number_not_in_source: (text) =>
    `gives the figure ${text}, which stands in none of the sources that its sentence cites. Give the figure of the source, cite the source that has it, or put your own figure into a sentence without a citation.`,
  uncited_statement: (text) => `states without a source: ${text}`,
};

/** What is wrong with the citations of a document, for its writer. */
export function describeDefects({ defects, ...audit }: DocumentAudit): CitationFault[] {
  return defects.slice(0, MOST).map(({ code, section, text }, at) => {
    const { statements, citedStatements, wanted } = audit;
    const isFirst = defects.findIndex((one) => one.code === 'uncited_statement') === at;
    const why = isFirst
      ? ` (${citedStatements} of ${countNoun(statements, 'statement cites', 'statements cite')} a source; ${Math.round(wanted * 100)} % must. Cite the source, or leave the statement out.)`
      : '';
    return { section, code, message: `\`${section}\` ${REMEDIES[code](shorten(text))}${why}` };
  });
}

const shorten = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
};
