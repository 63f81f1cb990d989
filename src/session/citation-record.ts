import type { NewNotice } from '../db/notices.ts';
import { countNoun } from '../text/count-noun.ts';
import { safeInline } from '../text/markdown-text.ts';
import { nameOf } from './name-document.ts';

/** What is wrong with a citation of a document, or which statement lacks one. */
export type CitationFaultRecord = {
  readonly section: string;
  readonly code: string;
  readonly text: string;
};

/** What the audit of a document's citations found, as it is kept with the document. */
export type CitationRecord = {
  /** Statements with a figure or a quotation where the contract wants citations, and those that cite. */
  readonly statements: number;
  readonly citedStatements: number;
  /** The share of those statements that cite; 1 where there are none. */
  readonly coverage: number;
  /** The coverage that the contract wants; 0 where it wants none. */
  readonly wanted: number;
  readonly cited: readonly string[];
  /** The sources that it does not cite. */
  readonly orphans: readonly string[];
  /** What is wrong in the end. */
  readonly faults: readonly CitationFaultRecord[];
  /** How often its writer was asked to mend it; absent for a copy, and in earlier releases. */
  readonly asked?: number;
  /** What was tried after that; absent where nothing was. */
  readonly rerun?: RerunRecord;
};

/** How a document was asked for again after its writer did not mend its citations. */
export type RerunRecord = {
  /** The sources that the statements with faults cited. */
  readonly tried: readonly string[];
  /** The excerpts that each further request gave. */
  readonly given: readonly (readonly string[])[];
  /** The participants that were asked in its writer's place, by number and model. */
  readonly participants: readonly string[];
};

const MOST_ORPHANS = 20;

/** The facts of a page that tell how it cites; none for a document without sources. */
export function citationFacts(record: CitationRecord | null): Readonly<Record<string, string>> {
  if (record === null) return {};
  const { statements, citedStatements, coverage, cited, orphans, faults, rerun } = record;
  const percent = `${Math.round(coverage * 100)} %`;
  const more = orphans.length > MOST_ORPHANS ? ` and ${orphans.length - MOST_ORPHANS} more` : '';
  return {
    coverage: `${percent}, ${citedStatements.toLocaleString('en')} of ${countNoun(statements, 'statement')} cited`,
    cites: cited.join(', ') || 'nothing',
    ...(orphans.length > 0 && { orphans: orphans.slice(0, MOST_ORPHANS).join(', ') + more }),
    ...(rerun && { rerun: describeRerun(rerun) }),
    ...(faults.length > 0 && {
      audit: `failed, ${countNoun(faults.length, 'fault')} of citation`,
    }),
  };
}

/** What was done about citations that their writer did not mend, in a few words. */
export function describeRerun({ tried, given, participants }: RerunRecord): string {
  if (participants.length > 0) return `written by ${participants.join(', then ')}`;
  const excerpts = [...new Set(given.flat())].join(', ');
  return `with ${excerpts}${tried.length > 0 ? ` after ${tried.join(', ')}` : ''}`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  unknown_source: 'there is no such source',
  malformed_marker: 'it names no source',
  invented_address: 'no source has this address',
  quote_not_in_source: 'the quotation is in none of the sources cited',
  number_not_in_source: 'the figure is in none of the sources cited',
  uncited_statement: 'no source is cited',
};

const LONGEST = 120;

/** One fault in a line. */
export function describeFault({ section, code, text }: CitationFaultRecord): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
  return `${section}: ${short} (${MEANINGS[code] ?? code})`;
}

/** The lines before the title of a page whose citations are wrong; empty where they are not. */
export function warnOfFaults(record: CitationRecord | null): string {
  if (record === null || record.faults.length === 0) return '';
  const said = new Set(record.faults.map(describeFault));
  const lines = [...said].map((fault) => `> - ${safeInline(fault)}`);
  const claim = '**The citations of this document could not be verified**';
  const more = record.rerun ? `, and then asked again (${describeRerun(record.rerun)})` : '';
  return `> ${claim}${describeAsked(record.asked)}${safeInline(more)}:\n>\n${lines.join('\n')}\n\n`;
}

/** How often its writer was asked; a document of an earlier release does not say so. */
function describeAsked(asked: number | undefined): string {
  if (asked === 0) return ', and its writer was not asked to mend them';
  const times =
    asked === undefined || asked === 2 ? 'twice' : asked === 1 ? 'once' : `${asked} times`;
  return `, although its writer was asked ${times} to mend them`;
}

/** Tells the user that a document is kept although its citations are wrong. */
export function faultNotice(
  sessionId: string,
  document: {
    readonly stage: string;
    readonly key: string;
    readonly lane: number;
    readonly iteration: number;
  },
  { faults }: CitationRecord,
): NewNotice {
  const [first] = faults;
  const pass = document.iteration > 1 ? ` of pass ${document.iteration}` : '';
  return {
    severity: 'warning',
    code: 'citations_unverified',
    topic: `session/${sessionId}`,
    message:
      `${nameOf(document)}${pass} is kept with ${countNoun(faults.length, 'fault')} of citation` +
      `${first ? `, such as ${describeFault(first)}` : ''}.`,
    details: { ...document, faults },
  };
}
