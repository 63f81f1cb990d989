import { posix } from 'node:path';
import { splitFrontMatter } from '../documents/front-matter.ts';
import { type FileContent, isLazy } from '../documents/owned-folder.ts';
import type { DocumentRef } from '../recipe/types.ts';
import type { ExportedDocument } from './export.ts';
import { titleOf } from './export-results.ts';
import type { SessionView } from './read.ts';

/**
 * Says in the first line of a document that a later one of the same lane and pass takes its place.
 * Only the file says so: what a prompt is given must not change when a later stage ends.
 */
export function markReplaced(
  session: SessionView,
  documents: readonly ExportedDocument[],
  files: Map<string, FileContent>,
): void {
  for (const { by, ...ref } of session.process.replaced) {
    for (const { path, lane, iteration } of documents.filter((one) => isOf(one, ref))) {
      const later = documents.find(
        (one) => isOf(one, by) && one.lane.id === lane.id && one.iteration === iteration,
      );
      const page = path === null ? undefined : files.get(path);
      if (path === null || !isLazy(page) || !later?.path) continue;
      const link = posix.relative(posix.dirname(path), later.path);
      const note = `> A later document takes the place of this one: [${titleOf(session, by)}](${encodeURI(link)}).`;
      const { key, make } = page;
      files.set(path, { key: `${key}/${note}`, make: make && (() => putFirst(note, make())) });
    }
  }
}

/** Puts a note before the text of a page, behind its front matter. */
function putFirst(note: string, page: string): string {
  const { text } = splitFrontMatter(page);
  return `${page.slice(0, page.length - text.length)}${note}\n\n${text}`;
}

const isOf = ({ stage, key }: ExportedDocument, ref: DocumentRef): boolean =>
  stage === ref.stage && key === ref.documentKey;
