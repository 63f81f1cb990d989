import { splitFrontMatter } from '../documents/front-matter.ts';
import type { Computation } from '../recipe/types.ts';
import { measureStyle, type Style } from '../text/measure-style.ts';
import { SizedMemo } from '../text/memo.ts';
import type { DocumentRow } from './export-rows.ts';
import type { SessionView } from './read.ts';

/** Styles by the hashes of pages: every export of a run lists the documents of all before. */
const known = new SizedMemo<{ readonly style: Style | null }>(10_000);

/** What code makes of records is a list of them, whoever wrote their texts. */
const LISTS: readonly Computation[] = ['collect', 'checks', 'search'];

/** How a document that people read first is written; null for all others, and for too little prose. */
export function styleOf(
  { process }: SessionView,
  { stage_key, step_key, document_key, markdown, markdown_hash: hash }: DocumentRow,
): Style | null {
  const read = [...process.results, ...(process.firstPage ? [process.firstPage] : [])];
  const isRead = read.some(
    ({ stage, documentKey }) => stage === stage_key && documentKey === document_key,
  );
  if (!isRead || markdown === null || hash === null) return null;
  const steps = process.stages.find(({ key }) => key === stage_key)?.steps ?? [];
  const compute = steps.find(({ key }) => key === step_key)?.compute ?? null;
  if (compute !== null && LISTS.includes(compute)) return null;
  const found = known.get(hash);
  if (found) return found.style;
  const style = measureStyle(splitFrontMatter(markdown).text);
  known.keep(hash, { style }, 1);
  return style;
}
