import { createFreeNames } from '../documents/free-names.ts';
import { splitFrontMatter } from '../documents/front-matter.ts';
import type { FileContent } from '../documents/owned-folder.ts';
import { constructPath } from '../documents/paths.ts';
import { readWorkItems } from '../planning/work-items.ts';
import { describeDocument } from '../recipe/contract.ts';
import { stageOf } from '../recipe/edges.ts';
import type { DocumentRef } from '../recipe/types.ts';
import { requireRecord } from '../text/is-record.ts';
import { humanise, toMarkdown } from '../text/markdown-blocks.ts';
import { safeInline } from '../text/markdown-text.ts';
import { makeInert } from '../text/safe-markdown.ts';
import type { ExportedDocument } from './export.ts';
import type { DocumentRow } from './export-rows.ts';
import type { SessionView } from './read.ts';

/** A document of the result as people find it: under its title, beside the readme. */
export type ResultFile = {
  readonly title: string;
  readonly path: string;
};

/**
 * Puts the results into their folders; each names the record that it was copied from. What the
 * result stage made without a folder is for looking up: the first page leads to its record.
 */
export function addResults(
  session: SessionView,
  rows: readonly DocumentRow[],
  documents: readonly ExportedDocument[],
  files: Map<string, FileContent>,
): ResultFile[] {
  const free = createFreeNames();
  return session.process.results.flatMap((ref) => {
    const found = findResult(session, rows, ref);
    const record = documents.find(({ id }) => id === found?.id)?.path;
    if (!found?.markdown || !record || isBlank(found.content)) return [];
    const title = titleOf(session, ref);
    if (!ref.folder) {
      return ref.stage === session.process.resultStage ? [{ title, path: record }] : [];
    }
    const words = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
    const name = free(`${ref.folder}/${words}`, found.id).slice(ref.folder.length + 1);
    const path = constructPath({ kind: 'result', folder: ref.folder, name });
    const { text } = splitFrontMatter(found.markdown);
    const link = `[Its record](../${encodeURI(record)}) says who wrote it, from what.`;
    files.set(path, makeInert(`${text.trimEnd()}\n\n---\n\n${link}\n`));
    return [{ title, path }];
  });
}

/** A computed document may be empty and is then left out. */
const isBlank = (content: unknown): boolean =>
  Object.values(requireRecord(content)).every(
    (value) => Array.isArray(value) && value.length === 0,
  );

/** The current document of the lane that the results follow. */
export const findResult = (
  { chosenLaneId, iteration }: SessionView,
  rows: readonly DocumentRow[],
  { stage, documentKey }: DocumentRef,
): DocumentRow | undefined =>
  rows.find(
    (row) =>
      row.stage_key === stage &&
      row.document_key === documentKey &&
      row.lane_id === chosenLaneId &&
      row.iteration === iteration,
  );

export function titleOf({ process }: SessionView, ref: DocumentRef): string {
  const stage = stageOf(process, ref.stage);
  const step = stage.steps.find(({ output }) => output.documentKey === ref.documentKey);
  return step ? describeDocument(stage, step).title : ref.documentKey;
}

const SHORT = 40;

/** A number, a name or a few ids, which fit into one line; null for anything longer. */
function shortText(value: unknown): string | null {
  const values = Array.isArray(value) ? value : [value];
  const isShort = values.every(
    (one) => typeof one === 'number' || (typeof one === 'string' && one.length <= SHORT),
  );
  return isShort && values.join(', ').length <= 2 * SHORT ? values.join(', ') : null;
}

/** The program's own fields for effort are hours; short ones read better in minutes. */
function withUnits(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { effort_low: low, effort_high: high, ...rest } = item;
  if (typeof low !== 'number' || typeof high !== 'number') return item;
  const isShort = high < 2;
  const [from, to] = [low, high].map((hours) => (isShort ? Math.round(hours * 60) : hours));
  const range = from === to ? `${to}` : `${from} to ${to}`;
  return { effort: `${range} ${isShort ? 'minutes' : 'hours'}`, ...rest };
}

/** One file for each piece of work of the result, in a form that a person or an agent can take. */
export function addWorkItems(
  session: SessionView,
  rows: readonly DocumentRow[],
  files: Map<string, FileContent>,
): number {
  for (const workItems of session.process.workItems) {
    const plan = findResult(session, rows, workItems);
    if (!plan) continue;
    const items = readWorkItems(workItems, plan.content);
    const free = createFreeNames();
    for (const { id, title, item } of items) {
      const facts = Object.entries(withUnits(item))
        .filter(([key]) => key !== workItems.id && key !== workItems.title)
        .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0));
      const brief = facts.flatMap(([key, value]) => {
        const words = shortText(value);
        return words === null ? [] : [`- ${safeInline(humanise(key))}: ${safeInline(words)}`];
      });
      const parts = facts
        .filter(([, value]) => shortText(value) === null)
        .map(([key, value]) => `## ${safeInline(humanise(key))}\n\n${toMarkdown(value, 3)}`);
      const name = free(`${id.replaceAll('/', '-')}.md`, id);
      const head = [`# ${safeInline(`${id} ${title}`)}`, brief.join('\n')].filter(Boolean);
      const text = `${[...head, ...parts].join('\n\n')}\n`;
      files.set(constructPath({ kind: 'pending', name }), makeInert(text));
    }
    return items.length;
  }
  return 0;
}
