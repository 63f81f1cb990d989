import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { sentencesOf } from '../sources/claims.ts';
import { findPassage, type Passage } from '../sources/find-passage.ts';
import { splitNotes } from '../sources/footnotes.ts';
import type { Source } from '../sources/source.ts';
import { countNoun } from '../text/count-noun.ts';
import { mentionsOf } from './citation-mentions.ts';
import { type ExportedDocument, exportSession } from './export.ts';
import { readSourceBook, type SourceBook } from './export-sources.ts';
import { findPage } from './find-page.ts';
import { nameOf } from './name-document.ts';
import type { SessionView } from './read.ts';

/** A document on the way from a statement to its source. */
type Carrier = {
  readonly document: string;
  /** `stage/key@lane`. */
  readonly name: string;
  readonly path: string | null;
  /** How many steps it lies before the document that was asked about: 1 is one of its inputs. */
  readonly steps: number;
  /** Where it cites the source, and what it says there. */
  readonly place: string;
  readonly text: string;
};

/** One citation of a line, followed back. */
export type TracedCitation = Pick<Source, 'id' | 'title' | 'url'> & {
  /** What the source says; null where nothing was read of it. */
  readonly passage: Passage | null;
  readonly carriedBy: readonly Carrier[];
};

/** From a line of a document to its sources, through the documents that carried them. */
export type Trace = {
  readonly document: string;
  readonly name: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly citations: readonly TracedCitation[];
  /** The lines of the page that cite. */
  readonly citedLines: readonly number[];
};

/** Traces a line of a page; `place` is the page as `dialectic show` takes it, a colon and the line. */
export async function traceCitation(
  tx: Transaction,
  session: SessionView,
  place: string,
): Promise<Trace> {
  const { page: wanted, line } = readPlace(place);
  const exported = await exportSession(tx, session);
  const { path, text: page } = findPage(session, exported, wanted);
  const lines = page.split('\n');
  const text = lines[line - 1];
  if (text === undefined) {
    const message = `There is no line ${line}: ${path} has ${countNoun(lines.length, 'line')}.`;
    throw new DialecticError('usage_invalid', message);
  }
  const document = findDocumentOf(exported, path, text);
  const record = document.path === path ? page : (exported.files.get(document.path ?? '') ?? '');
  const ids = readNotes(record);
  const notes = new Set(splitNotes(record).notes.split('\n'));
  const citesIn = (one: string): string[] =>
    notes.has(one) && one !== ''
      ? []
      : [...one.matchAll(/\[\^(\d{1,6})\]/g)].flatMap(([, number]) => ids.get(number!) ?? []);
  const book = await readSourceBook(tx, session);
  const inputs = await readInputs(tx, session.id);
  const statements = new Map<string, string>();
  for (const { start, end } of sentencesOf(text, 0)) {
    const sentence = text.slice(start, end);
    const plain = sentence.replace(/\[\^\d{1,6}\]/g, '').trim();
    for (const id of new Set(citesIn(sentence))) {
      statements.set(id, `${statements.get(id) ?? ''} ${plain}`.trim());
    }
  }
  return {
    document: document.id,
    name: nameOf({ ...document, lane: document.lane.ordinal }),
    path,
    line,
    text: text.trim(),
    citations: [...statements].map(([id, statement]) =>
      follow(id, statement, { document, book, inputs, documents: exported.documents }),
    ),
    citedLines: lines.flatMap((one, at) => (citesIn(one).length > 0 ? [at + 1] : [])),
  };
}

function readPlace(place: string): { readonly page: string; readonly line: number } {
  const [, page, line] = /^(.+):(\d{1,7})$/s.exec(place) ?? [];
  if (page !== undefined && Number(line) > 0) return { page, line: Number(line) };
  const message = `Name a page and a line, as in decision:12; ${place} is no such place.`;
  throw new DialecticError('usage_invalid', message);
}

/** A page is a document, or a copy of one that holds the same line. */
function findDocumentOf(
  { documents, files }: Awaited<ReturnType<typeof exportSession>>,
  path: string,
  line: string,
): ExportedDocument {
  const holds = (one: ExportedDocument): boolean =>
    line.trim() !== '' &&
    (files
      .get(one.path ?? '')
      ?.split('\n')
      .includes(line) ??
      false);
  const found = documents.find((one) => one.path === path) ?? documents.findLast(holds);
  if (found) return found;
  const message = `That line of ${path} is of no document: code wrote it.`;
  throw new DialecticError('not_found', message);
}

/** The ids behind the footnotes of a page; definitions and the rows of the table have one order. */
function readNotes(page: string): ReadonlyMap<string, string> {
  const { notes } = splitNotes(page);
  const numbers = [...notes.matchAll(/^\[\^(\d{1,6})\]:/gm)].map(([, number]) => number!);
  const ids = [...notes.matchAll(/^\| (S\d{1,9}) \|/gm)].map(([, id]) => id!);
  return new Map(numbers.flatMap((number, at) => (ids[at] ? [[number, ids[at]]] : [])));
}

type InputRow = {
  id: string;
  inputs: readonly { readonly ids: readonly string[] }[];
  content: unknown;
};

async function readInputs(tx: Transaction, sessionId: string): Promise<Map<string, InputRow>> {
  const rows = await tx.query<InputRow>(
    `select id, inputs, content from documents where session_id = $1 and kind <> 'seed_prompt'`,
    [sessionId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

type Way = {
  readonly document: ExportedDocument;
  readonly book: SourceBook;
  readonly inputs: ReadonlyMap<string, InputRow>;
  readonly documents: readonly ExportedDocument[];
};

function follow(id: string, statement: string, { document, ...way }: Way): TracedCitation {
  const { sources } = way.book;
  const source = sources.require(id);
  const carriedBy: Carrier[] = [];
  const seen = new Set([document.id]);
  let level = [document.id];
  for (let steps = 1; level.length > 0; steps++) {
    const before = level.flatMap((one) => way.inputs.get(one)?.inputs.flatMap(({ ids }) => ids));
    level = [...new Set(before.filter((one) => one !== undefined))].filter((one) => !seen.has(one));
    for (const one of level) seen.add(one);
    carriedBy.push(...level.flatMap((one) => carry(one, steps, source, statement, way)));
  }
  const passage = findPassage(source, statement) ?? null;
  const { title, url } = source;
  return { id, title, ...(url !== undefined && { url }), passage, carriedBy };
}

/** The place of a document that cites the source and is most like the statement. */
function carry(
  id: string,
  steps: number,
  source: Source,
  statement: string,
  { inputs, documents, book }: Omit<Way, 'document'>,
): Carrier[] {
  const made = documents.find((one) => one.id === id);
  const content = inputs.get(id)?.content;
  if (!made || content === undefined) return [];
  const mentions = mentionsOf(content, source.id, book.sources);
  const best = findPassage({ id: '', excerpts: mentions.map(({ text }) => text) }, statement);
  const mention = best && mentions[Number(best.excerpt.slice('.e'.length)) - 1];
  if (!best || !mention) return [];
  const name = nameOf({ ...made, lane: made.lane.ordinal });
  const place = mention.place;
  return [{ document: id, name, path: made.path, steps, place, text: best.text }];
}
