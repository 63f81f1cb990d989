import { splitFrontMatter } from '../documents/front-matter.ts';
import { splitNotes } from '../sources/footnotes.ts';
import { isRecord } from '../text/is-record.ts';
import { safeInline } from '../text/markdown-text.ts';
import { findResult, type ResultFile } from './export-results.ts';
import type { DocumentRow } from './export-rows.ts';
import type { SessionView } from './read.ts';

/** More than a reader takes in; the document of the checks has them all. */
const MOST = 7;

/** What the first page is made of beside the text of the result stage. */
export type FolderParts = {
  readonly results: readonly ResultFile[];
  readonly workItems: number;
  readonly contents: string;
  /** The line that leads to the sources, where there are some. */
  readonly sources?: readonly string[];
};

/** The lines of the page, and its footnotes, which belong to the end of whatever holds it. */
type FirstPage = { readonly lines: readonly string[]; readonly notes: string };

/**
 * The page of the result stage with what only code knows: what does not add up although its writer
 * was asked to mend it, and where everything lies. Undefined where the run has no such page (yet).
 */
export function firstPage(
  session: SessionView,
  rows: readonly DocumentRow[],
  { results, workItems, contents, sources = [] }: FolderParts,
): FirstPage | undefined {
  const ref = session.process.firstPage;
  const row = ref ? findResult(session, rows, ref) : undefined;
  if (!row?.markdown) return undefined;
  const page = splitFrontMatter(row.markdown).text;
  const { text, notes } = row.citations === null ? { text: page, notes: '' } : splitNotes(page);
  const problems = findProblems(session, rows);
  const folder = results.map(({ title, path }) => `- [${safeInline(title)}](${encodeURI(path)})`);
  const work =
    workItems > 0 ? [`- [Pending/](Pending/): ${workItems} work items, a file each`] : [];
  const lines = [
    linkResults(text.trimEnd(), results),
    '',
    ...(problems.length > 0
      ? ['## What does not add up yet', '', ...problems.slice(0, MOST).map((one) => `- ${one}`), '']
      : []),
    ...(problems.length > MOST
      ? [`${problems.length - MOST} more stand with the checks.`, '']
      : []),
    '## In this folder',
    '',
    ...folder,
    ...work,
    ...sources,
    `- [The whole debate](${encodeURI(contents)}): every proposal, critique, prompt and answer`,
    '',
  ];
  return { lines, notes };
}

/** The page speaks of other documents by their titles in quotation marks; here they can be opened. */
const linkResults = (text: string, results: readonly ResultFile[]): string =>
  results.reduce(
    (linked, { title, path }) =>
      linked.replaceAll(`"${title}"`, () => `[${safeInline(title)}](${encodeURI(path)})`),
    text,
  );

/** What the computed check of the result found; its writers were asked once to mend it. */
function findProblems(session: SessionView, rows: readonly DocumentRow[]): string[] {
  const { stages, replaced } = session.process;
  return stages.flatMap((stage) =>
    stage.steps
      .filter(({ compute, skip }) => compute === 'checks' && !skip)
      .filter(
        ({ output }) =>
          !replaced.some(
            (ref) => ref.stage === stage.key && ref.documentKey === output.documentKey,
          ),
      )
      .flatMap(({ output: { documentKey } }) => {
        const content = findResult(session, rows, { stage: stage.key, documentKey })?.content;
        const problems = isRecord(content) ? content['problems'] : undefined;
        return Array.isArray(problems) ? problems.map((one) => safeInline(String(one))) : [];
      }),
  );
}
