import { DialecticError } from '../errors/errors.ts';
import { simplifyName } from '../text/simplify-name.ts';
import type { ExportedDocument, ExportedSession } from './export.ts';
import { titleOf } from './export-results.ts';
import { adviseDocuments, nameOf, namesOf, shortId } from './name-document.ts';
import type { SessionView } from './read.ts';

/** A file of the folder. */
export type Page = {
  /** Its path within the folder. */
  readonly path: string;
  readonly text: string;
};

const FIRST_PAGE = 'project_readme.md';
const LEAST_OF_AN_ID = 4;
const MOST_NAMED = 12;

/**
 * Finds a page of the folder by its path, the name of its file, or the id, key or title of its
 * document, the last three also with `@` and the number of a participant; the first page where none
 * is named. Of several participants' documents the chosen one's is meant.
 */
export function findPage(
  session: SessionView,
  { files, documents }: Pick<ExportedSession, 'files' | 'documents'>,
  wanted: string = FIRST_PAGE,
): Page {
  const path =
    findPath(files, wanted) ??
    findDocumentPath(session, documents, wanted) ??
    findFile(files, wanted);
  const text = path === undefined ? undefined : files.get(path);
  if (path === undefined || text === undefined) throw unknown(session, documents, wanted);
  return { path, text };
}

/** A path within the folder, or one that leads into the folder from elsewhere. */
function findPath(files: ReadonlyMap<string, string>, wanted: string): string | undefined {
  const path = wanted.replaceAll('\\', '/').replace(/^\.\//, '');
  if (files.has(path)) return path;
  const ends = [...files.keys()].filter((one) => one.includes('/') && path.endsWith(`/${one}`));
  return ends.toSorted((a, b) => b.length - a.length)[0];
}

function findDocumentPath(
  session: SessionView,
  documents: readonly ExportedDocument[],
  wanted: string,
): string | undefined {
  const byId = documents.filter(
    ({ id }) => wanted.length >= LEAST_OF_AN_ID && id.endsWith(wanted.toLowerCase()),
  );
  const plain = simplifyName(wanted);
  const named = documents.filter((one) =>
    namesOf(session, { ...one, lane: one.lane.ordinal }).includes(plain),
  );
  // A draft may have the title of what became of it: a key means the document that has it.
  const keyed = named.filter(({ stage, key, lane }) =>
    [key, `${stage}/${key}`]
      .flatMap((name) => [name, `${name}@${lane.ordinal}`])
      .some((name) => simplifyName(name) === plain),
  );
  const meant = keyed.length > 0 ? keyed : named;
  const found = byId.length > 0 ? byId : preferChosen(session, latest(meant));
  if (found.length > 1) throw ambiguous(session, found, wanted);
  return found[0] && (found[0].path ?? found[0].dataPath);
}

/** Of what several participants wrote, that of the one whom the results follow, if it wrote any. */
function preferChosen(
  { chosenLaneId }: SessionView,
  documents: readonly ExportedDocument[],
): readonly ExportedDocument[] {
  const chosen = documents.filter(({ lane }) => lane.id === chosenLaneId);
  return chosen.length > 0 ? chosen : documents;
}

/** Of what several passes wrote, what the last of them did. */
function latest(documents: readonly ExportedDocument[]): ExportedDocument[] {
  const works = Map.groupBy(documents, (one) => nameOf({ ...one, lane: one.lane.ordinal }));
  return [...works.values()].flatMap((passes) => {
    const last = Math.max(...passes.map(({ iteration }) => iteration));
    return passes.filter(({ iteration }) => iteration === last);
  });
}

/** The name of a file, with or without its ending. */
function findFile(files: ReadonlyMap<string, string>, wanted: string): string | undefined {
  const plain = simplifyName(wanted);
  const found = [...files.keys()].filter((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return [name, name.replace(/\.\w+$/, '')].map(simplifyName).includes(plain);
  });
  if (found.length < 2) return found[0];
  const message = `${wanted} names ${found.length} files of the folder. Take the path of one:`;
  throw new DialecticError('usage_invalid', [message, ...found].join('\n  '), {
    details: { candidates: found },
  });
}

function ambiguous(session: SessionView, found: readonly ExportedDocument[], wanted: string) {
  const lines = found.map((one) => describeWithId(session, one));
  return new DialecticError(
    'usage_invalid',
    `${wanted} names ${found.length} documents. Take the id of one, or its participant after an @:\n` +
      lines.join('\n'),
    { details: { candidates: found.map(({ id }) => id) } },
  );
}

function unknown(session: SessionView, documents: readonly ExportedDocument[], wanted: string) {
  const rendered = latest(documents.filter(({ path }) => path !== null));
  const lines = rendered.slice(0, MOST_NAMED).map((one) => describeWithId(session, one));
  const rest = rendered.length - lines.length;
  const more = rest > 0 ? [`  and ${rest} more`] : [];
  const has = lines.length > 0 ? ['It has:', ...lines, ...more].join('\n') : 'It has none yet.';
  return new DialecticError(
    'not_found',
    `Session ${shortId(session.id)} has no document ${wanted}. ${has}`,
    { action: `${adviseDocuments(session.id)} \`dialectic list\` lists the sessions.` },
  );
}

/** A participant writes one document of a key on each proposal: only the id tells them apart. */
const describeWithId = (session: SessionView, document: ExportedDocument): string =>
  `  ${shortId(document.id)}  ${describe(session, document)}`;

const describe = (session: SessionView, { stage, key, lane }: ExportedDocument): string =>
  `${key}@${lane.ordinal}  ${titleOf(session, { stage, documentKey: key })} by ${lane.model}`;
