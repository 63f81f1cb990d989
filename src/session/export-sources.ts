import type { Transaction } from '../db/transaction.ts';
import type { FileContent } from '../documents/owned-folder.ts';
import { constructPath } from '../documents/paths.ts';
import { linkMarkers } from '../sources/footnotes.ts';
import type { Source } from '../sources/source.ts';
import { sourceCache } from '../sources/source-cache.ts';
import { type LastCheck, readChecks } from '../sources/source-checks.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { countNoun } from '../text/count-noun.ts';
import { safeCell, safeInline } from '../text/markdown-text.ts';
import { quoteWord } from '../text/quote-word.ts';
import { makeInert } from '../text/safe-markdown.ts';
import { type CitationRecord, describeFault } from './citation-record.ts';
import type { ExportedDocument } from './export.ts';
import type { DocumentRow } from './export-rows.ts';
import { nameOf, shortId } from './name-document.ts';
import type { SessionView } from './read.ts';
import { readUses, type SourceUse } from './source-info.ts';

/** A document whose citations are wrong, however often its writer was asked to mend them. */
type UnverifiedDocument = {
  readonly id: string;
  readonly name: string;
  readonly path: string | null;
  readonly faults: readonly string[];
};

/** How the documents of a pass cite the sources of their project. */
export type CitationReport = {
  readonly sources: readonly (Pick<Source, 'id' | 'title' | 'url'> & { readonly uses: number })[];
  readonly statements: number;
  readonly citedStatements: number;
  /** The share of statements with a figure or quotation that cite; 1 where there are none. */
  readonly coverage: number;
  /** Sources that no current document cites. */
  readonly orphans: readonly string[];
  readonly unverified: readonly UnverifiedDocument[];
  /** What it took to ask again for documents only because they cite too few of the sources. */
  readonly askedForSources: AskedForSources;
};

export type AskedForSources = {
  readonly calls: number;
  /** Null where a price is unknown. */
  readonly costUsd: number | null;
};

/** What an export needs to know of a project's sources. */
export type SourceBook = {
  readonly sources: SourceSet;
  /** How sources stood when they were last checked, by id. */
  readonly checks: ReadonlyMap<string, LastCheck>;
  readonly uses: ReadonlyMap<string, readonly SourceUse[]>;
};

/** The list of sources in a folder, and the sources themselves. */
export const SOURCES_PAGE = constructPath({ kind: 'general_resource', name: 'sources.md' });
export const SOURCES_DATA = constructPath({ kind: 'general_resource', name: 'sources.json' });

export async function readSourceBook(
  tx: Transaction,
  { id, projectId }: Pick<SessionView, 'id' | 'projectId'>,
): Promise<SourceBook> {
  const sources = await sourceCache.read(tx, id);
  if (sources.size === 0) return { sources, uses: new Map(), checks: new Map() };
  const uses = await readUses(tx, projectId, sources);
  return { sources, uses, checks: await readChecks(tx, projectId) };
}

/** What the session has asked for again only because too few statements cited a source. */
export async function readAskedForSources(
  tx: Transaction,
  sessionId: string,
): Promise<AskedForSources> {
  const { calls, cost } = await tx.queryOne<{ calls: number; cost: number | null }>(
    `select count(*)::int as calls,
       case when bool_or(c.cost_micros is null and c.status in ('received', 'cut')) then null
         else coalesce(sum(c.cost_micros), 0)::float8 end as cost
     from model_calls c join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
     where c.session_id = $1 and c.purpose in ('repair', 'continuation') and j.payload ? 'uncited'`,
    [sessionId],
  );
  return { calls, costUsd: cost === null ? null : cost / 1e6 };
}

/** Sums up what the audits of the pass found; null where nothing can be cited and nothing was. */
export function reportCitations(
  { iteration }: Pick<SessionView, 'iteration'>,
  { sources, uses }: SourceBook,
  rows: readonly DocumentRow[],
  documents: readonly ExportedDocument[],
  askedForSources: AskedForSources,
): CitationReport | null {
  const records = rows.filter((row) => row.iteration === iteration).flatMap(toAudited);
  if (sources.size === 0 && records.length === 0) return null;
  const add = (count: (record: CitationRecord) => number): number =>
    records.reduce((sum, { record }) => sum + count(record), 0);
  const statements = add((record) => record.statements);
  const citedStatements = add((record) => record.citedStatements);
  return {
    sources: sources.standing.map(({ id, title, url }) => ({
      id,
      title,
      ...(url !== undefined && { url }),
      uses: uses.get(id)?.length ?? 0,
    })),
    statements,
    askedForSources,
    citedStatements,
    coverage: statements === 0 ? 1 : citedStatements / statements,
    orphans: sources.standing.filter(({ id }) => !uses.has(id)).map(({ id }) => id),
    unverified: records.flatMap(({ id, record: { faults } }) => {
      const document = documents.find((one) => one.id === id);
      if (!document || faults.length === 0) return [];
      const name = nameOf({ ...document, lane: document.lane.ordinal });
      return [{ id, name, path: document.path, faults: faults.map(describeFault) }];
    }),
  };
}

const toAudited = ({ id, citations }: DocumentRow) =>
  citations === null ? [] : [{ id, record: citations }];

/** The part of the readme on documents whose citations are wrong; empty where there is none. */
export function unverifiedSection(report: CitationReport | null): string[] {
  if (report === null || report.unverified.length === 0) return [];
  const lines = report.unverified.map(({ name, path, faults }) => {
    const title = path === null ? safeInline(name) : `[${safeInline(name)}](${encodeURI(path)})`;
    return `- ${title}: ${safeInline(faults[0] ?? '')}${faults.length > 1 ? ` and ${faults.length - 1} more` : ''}`;
  });
  const claim =
    '**The citations of these documents could not be verified.** What was wrong went back to their ' +
    'writers, at most twice; of documents that only cite too few sources, at most a tenth went back.';
  return ['## Citations that are not verified', '', claim, '', ...lines, ''];
}

/** The line of the readme that leads to the sources; none where there are none. */
export const linkSources = (report: CitationReport | null): string[] =>
  report === null || report.sources.length === 0
    ? []
    : [
        `- [Sources](${SOURCES_PAGE}): ${countNoun(report.sources.length, 'source')}, ` +
          `${report.sources.length - report.orphans.length} of them cited, ` +
          `${Math.round(report.coverage * 100)} % of ${countNoun(report.statements, 'statement')} covered`,
      ];

/**
 * Adds the list of sources to the folder, and makes links to it of the citations in pages that code
 * puts together; documents have footnotes of their own.
 */
export function addSources(
  session: SessionView,
  book: SourceBook,
  documents: readonly ExportedDocument[],
  files: Map<string, FileContent>,
): void {
  const { sources } = book;
  if (sources.size === 0) return;
  for (const [path, text] of files) {
    const above = pageAbove(session, path);
    if (above !== null && typeof text === 'string')
      files.set(path, linkMarkers(text, sources.find, `${above}${SOURCES_PAGE}`));
  }
  files.set(SOURCES_PAGE, makeInert(writePage(session, book, documents)));
  files.set(SOURCES_DATA, `${JSON.stringify(sources.all, null, 2)}\n`);
}

/** The way from a page that code puts together to the folder's root; null for every other file. */
function pageAbove({ id }: SessionView, path: string): string | null {
  if (path === constructPath({ kind: 'project_readme' })) return '';
  const isBelow =
    path.startsWith('Pending/') ||
    path === constructPath({ kind: 'contents', session: id.slice(-12) });
  return isBelow ? '../' : null;
}

function writePage(
  { id }: SessionView,
  book: SourceBook,
  documents: readonly ExportedDocument[],
): string {
  const { sources, uses, checks } = book;
  const rows = sources.standing.map(({ id, title, author, publisher, year, url, degraded }) => {
    const by = [author, publisher, year].filter((part) => part !== undefined && part !== '');
    const note = degraded === undefined ? '' : ` (not checked: ${safeCell(degraded)})`;
    const address = url === undefined ? '' : `<${url.replace(/[\s<>|]/g, encodeURIComponent)}>`;
    const cited = countNoun(uses.get(id)?.length ?? 0, 'place');
    const cells = [`${safeCell(title)}${note}`, safeCell(by.join(', ')), address, cited];
    if (checks.size > 0) cells.push(describeCheck(checks.get(id)));
    return `| ${id} | ${cells.join(' | ')} |`;
  });
  const aliases = sources.all.flatMap(({ id, aliasOf }) =>
    aliasOf === undefined ? [] : [`- ${id} is the same as ${aliasOf}.`],
  );
  const show = `\`dialectic sources show ID --session ${quoteWord(shortId(id))}\``;
  const lines = [
    '# Sources',
    '',
    `The documents cite by these ids. ${show} shows the text of one.`,
    '',
    `| id | title | by | address | cited in |${checks.size > 0 ? ' checked |' : ''}`,
    `|---|---|---|---|---|${checks.size > 0 ? '---|' : ''}`,
    ...rows,
    ...(aliases.length > 0 ? ['', ...aliases] : []),
    ...sources.standing.flatMap((source) => listUses(source, uses.get(source.id) ?? [], documents)),
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether a page still says what was read of it, as far as somebody has looked. */
const describeCheck = (check: LastCheck | undefined): string =>
  check === undefined ? '' : `${check.state}, ${check.at.toISOString().slice(0, 10)}`;

/** Who cites a source: a line for each document, with its sections. */
function listUses(
  { id, title }: Source,
  uses: readonly SourceUse[],
  documents: readonly ExportedDocument[],
): string[] {
  if (uses.length === 0) return [];
  const lines = [...Map.groupBy(uses, ({ document }) => document)].map(([document, own]) => {
    const path = documents.find((one) => one.id === document)?.path;
    const name = safeInline(own[0]?.name ?? '');
    const places = [...new Set(own.map(({ place }) => place))].map(safeInline).join(', ');
    return `- ${path ? `[${name}](../${encodeURI(path)})` : name}: ${places}`;
  });
  return ['', `## ${id} ${safeInline(title)}`, '', ...lines];
}
