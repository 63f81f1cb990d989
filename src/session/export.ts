import type { Transaction } from '../db/transaction.ts';
import { createFreeNames } from '../documents/free-names.ts';
import type { FileContent } from '../documents/owned-folder.ts';
import { constructPath, type Work } from '../documents/paths.ts';
import { uniteLosses } from '../planning/missing.ts';
import type { Loss } from '../planning/types.ts';
import { Slices } from '../platform/clock.ts';
import type { Overlay, Process } from '../recipe/types.ts';
import { requireRecord } from '../text/is-record.ts';
import type { Style } from '../text/measure-style.ts';
import { makeInert } from '../text/safe-markdown.ts';
import { describeRerun } from './citation-record.ts';
import { type Counts, readCounts } from './counts.ts';
import { workOf } from './document-paths.ts';
import { CallFiles, type IsWritten, readCalls, showAsIs } from './export-calls.ts';
import { addFeedbackFiles, type FeedbackRecord } from './export-feedback.ts';
import { addResults, addWorkItems } from './export-results.ts';
import { askersOf, type DocumentRow, readRows } from './export-rows.ts';
import {
  addSources,
  type CitationReport,
  readAskedForSources,
  readSourceBook,
  reportCitations,
} from './export-sources.ts';
import { readFailedJobs, readLosses } from './losses.ts';
import { markReplaced } from './mark-replaced.ts';
import { type Outcome, readOutcome } from './outcome.ts';
import { gatherQuestions } from './questions.ts';
import { laneOf, readSession, type SessionLane, type SessionView } from './read.ts';
import { writeContents, writeReadme } from './readme.ts';
import { styleOf } from './result-style.ts';
import { readStageLanes } from './stages.ts';

/** A document of a session with the places of its files in the exported folder. */
export type ExportedDocument = {
  readonly id: string;
  readonly stage: string;
  readonly key: string;
  readonly kind: 'document' | 'header_context';
  readonly iteration: number;
  readonly lane: SessionLane;
  readonly version: number;
  /** The Markdown; null where the recipe renders none or it has not been rendered yet. */
  readonly path: string | null;
  readonly dataPath: string;
  /** What its calls cost; null where a price is unknown. */
  readonly costUsd: number | null;
  /** What they cost in the run whose answers were replayed; null where none was, or it is unknown. */
  readonly recordedCostUsd: number | null;
  /** Whether a replayed answer does not say what it cost. */
  readonly lacksRecordedCost: boolean;
  /** Whether the offline author wrote it, and not the participant's model. */
  readonly isOffline: boolean;
  /** What it was written without. */
  readonly missing: readonly Loss[];
  /** How it was asked for after its writer did not mend its citations; null where it was not. */
  readonly rerun: string | null;
  /** How its sentences are written; null for what is not part of the result. */
  readonly style: Style | null;
};

export type ExportedSession = {
  /** Every file by its path within the folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly documents: readonly ExportedDocument[];
  /** What the pass went on without. */
  readonly missing: readonly Loss[];
  readonly outcome: Outcome;
  readonly counts: Counts;
  /** How the documents cite; null where the project has no sources. */
  readonly citations: CitationReport | null;
};

/**
 * The tree that a person gets: everything that the sessions of the project have made so far. The
 * files at its root (readme, settings, Pending/) follow the named session.
 */
export async function exportSession(
  tx: Transaction,
  session: SessionView,
): Promise<ExportedSession> {
  const { files, ...exported } = await exportTree(tx, session, () => false);
  const texts = new Map<string, string>();
  for (const [path, content] of files) {
    const text = typeof content === 'object' && 'make' in content ? content.make?.() : content;
    if (typeof text === 'string') texts.set(path, text);
  }
  return { ...exported, files: texts };
}

/** A tree in which texts that take long are made when they are written, and only if they are new. */
export type ExportedTree = Omit<ExportedSession, 'files'> & {
  readonly files: ReadonlyMap<string, FileContent>;
};

/** The same tree to be written: what `isWritten` says stands in the folder is not read again. */
export async function exportTree(
  tx: Transaction,
  session: SessionView,
  isWritten: IsWritten,
  slices = new Slices(),
): Promise<ExportedTree> {
  const files = new Map<string, FileContent>();
  const others = await readSiblings(tx, session);
  for (const other of others) await addDebate(tx, other, files, isWritten, slices);
  const { rows, documents, feedback } = await addDebate(tx, session, files, isWritten, slices);
  // Given before any of them is awaited, the first statements of all take one round trip.
  const [missing, project, counts, book, questions, asked] = await Promise.all([
    readMissing(tx, session, documents),
    readProject(tx, session),
    readCounts(tx, session.id),
    readSourceBook(tx, session),
    gatherQuestions(tx, session, askersOf(session, rows), slices),
    readAskedForSources(tx, session.id),
  ]);
  addProject(session, project, others, files, { missing, feedback });
  const contents = constructPath({ kind: 'contents', session: session.id.slice(-12) });
  const folder = {
    results: addResults(session, rows, documents, files),
    workItems: addWorkItems(session, rows, files),
    contents,
  };
  const outcome = readOutcome(session, rows);
  const citations = reportCitations(session, book, rows, documents, asked);
  const made = { documents, rows, questions, missing, folder, outcome, counts, citations };
  const readme = makeInert(writeReadme(session, made, others));
  files.set(constructPath({ kind: 'project_readme' }), readme);
  files.set(contents, makeInert(writeContents(session, made)));
  addSources(session, book, documents, files);
  return { files, documents, missing, outcome, counts, citations };
}

/** The other sessions of the project, the oldest first. */
async function readSiblings(tx: Transaction, session: SessionView): Promise<SessionView[]> {
  const { projectId, id } = session;
  const rows = await tx.query<{ id: string }>(
    `select id from sessions where project_id = $1 and id <> $2
     order by created_at, id`,
    [projectId, id],
  );
  return Promise.all(rows.map((row) => readSession(tx, row.id)));
}

/** Adds what one session has made: its prompts, answers and documents. */
async function addDebate(
  tx: Transaction,
  session: SessionView,
  files: Map<string, FileContent>,
  isWritten: IsWritten,
  slices: Slices,
) {
  const order = session.process.stages.map(({ key }) => key);
  const [read, calls] = await Promise.all([readRows(tx, session), readCalls(tx, session)]);
  const rows = read.toSorted(
    (a, b) => a.iteration - b.iteration || order.indexOf(a.stage_key) - order.indexOf(b.stage_key),
  );
  const callFiles = new CallFiles(files, isWritten);
  const documents: ExportedDocument[] = [];
  const works = new Map<string, Work>();
  const origins = new Map(rows.map((row) => [row.contribution_id, row.lane_id]));
  for (const row of rows) {
    await slices.rest();
    if (row.kind === 'seed_prompt') {
      const place = {
        session: session.id.slice(-12),
        iteration: row.iteration,
        stageNumber: order.indexOf(row.stage_key) + 1,
        stage: row.stage_key,
      };
      files.set(constructPath({ kind: 'seed_prompt', ...place }), showAsIs(row.markdown ?? ''));
      continue;
    }
    const work = workOf(session, row, origins.get(row.source_group));
    documents.push(addDocument(files, session, row, work));
    works.set(row.id, work);
    const about = lanesAbout(session, row, origins).map(({ ordinal }) => ordinal);
    callFiles.add(calls.get(row.chain_id ?? '') ?? [], work, about);
  }
  const [feedback] = await Promise.all([
    addFeedbackFiles(tx, session, works, files),
    callFiles.read(tx, session.id),
    addRecipe(session, files),
  ]);
  markReplaced(session, documents, files);
  return { rows, documents, feedback };
}

/** The files of a process, which never changes once it is read. */
const recipes = new WeakMap<Process, ReadonlyMap<string, string>>();

/** The recipe as the session followed it: a replay needs no other, and a person can change it. */
async function addRecipe(
  { id, process }: SessionView,
  files: Map<string, FileContent>,
): Promise<void> {
  // Loaded here: commands that export nothing need no YAML.
  const { processToFiles } = await import('../recipe/serialise.ts');
  const made = recipes.get(process) ?? processToFiles(process);
  recipes.set(process, made);
  for (const [name, text] of made) {
    files.set(constructPath({ kind: 'recipe', session: id.slice(-12), name }), text);
  }
}

function addDocument(
  files: Map<string, FileContent>,
  session: SessionView,
  row: DocumentRow,
  work: Work,
): ExportedDocument {
  const isHeader = row.kind === 'header_context';
  // What the recipe renders is for people; JSON alone is a step on the way.
  const kind = isRendered(session, row) ? 'document' : 'intermediate';
  const dataPath = isHeader
    ? constructPath({ kind: 'header_context', ...work })
    : constructPath({ kind, format: 'json', ...work });
  const path = row.markdown && constructPath({ kind: 'document', format: 'md', ...work });
  // A document that is stored never changes, but for these.
  const marks = JSON.stringify([row.missing, row.citations]);
  files.set(dataPath, {
    key: `document/${row.id}/${marks}`,
    make: () => `${JSON.stringify(withFacts(row), null, 2)}\n`,
  });
  // Stores hold documents of earlier releases, which let more pass.
  const { markdown, markdown_hash: hash } = row;
  if (path && markdown) files.set(path, { key: `page/${hash}`, make: () => makeInert(markdown) });
  return {
    id: row.id,
    stage: row.stage_key,
    key: row.document_key,
    kind: isHeader ? 'header_context' : 'document',
    iteration: row.iteration,
    lane: laneOf(session, row.lane_id),
    version: row.version,
    path: path ?? null,
    dataPath,
    costUsd: toUsd(row.cost_micros),
    recordedCostUsd: toUsd(row.recorded_cost_micros),
    lacksRecordedCost: row.lacks_recorded_cost,
    isOffline: row.is_offline,
    missing: row.missing,
    rerun: row.citations?.rerun ? describeRerun(row.citations.rerun) : null,
    style: styleOf(session, row),
  };
}

const toUsd = (micros: number | null): number | null => (micros === null ? null : micros / 1e6);

/** What was lost in this pass, and what its documents say that they were written without. */
async function readMissing(
  tx: Transaction,
  session: SessionView,
  documents: readonly ExportedDocument[],
): Promise<Loss[]> {
  const [lanes, failed] = await Promise.all([
    readStageLanes(tx, session),
    readFailedJobs(tx, session),
  ]);
  const { losses } = await readLosses(tx, session, lanes, failed);
  const current = documents.filter(({ iteration }) => iteration === session.iteration);
  return uniteLosses([...losses, ...current.flatMap(({ missing }) => missing)]);
}

/**
 * A document's file begins with how it came about and, where it is degraded, with what it was
 * written without, and with how it cites; none of these keys is a section of any contract.
 */
function withFacts(row: DocumentRow): object {
  const { id, source_group, anchor_id, inputs, missing, citations, content } = row;
  const read = Object.fromEntries((inputs ?? []).map(({ name, ids }) => [name, ids]));
  return {
    _facts: { id, lineage: source_group, anchor: anchor_id, inputs: read },
    ...(missing.length > 0 && { _missing: missing }),
    ...(citations !== null && { _citations: citations }),
    ...requireRecord(content),
  };
}

function isRendered({ process }: SessionView, row: DocumentRow): boolean {
  const stage = process.stages.find(({ key }) => key === row.stage_key);
  const step = stage?.steps.find(({ output }) => output.documentKey === row.document_key);
  return step !== undefined && step.output.template !== null;
}

/** The lane on whose proposal a document is, then the one whose responses it merges with it. */
function lanesAbout(
  { lanes }: SessionView,
  { source_group, responding_lane_id }: DocumentRow,
  origins: ReadonlyMap<string | null, string>,
): SessionLane[] {
  const origin = lanes.find(({ id }) => id === origins.get(source_group));
  const responding = lanes.find(({ id }) => id === responding_lane_id);
  return origin ? [origin, ...(responding ? [responding] : [])] : [];
}

/** What the folder shows of the project beside its sessions. */
async function readProject(tx: Transaction, { projectId }: SessionView) {
  type Row = { name: string; domain: string | null; brief: string; overlay: Overlay | null };
  const [row, resources] = await Promise.all([
    tx.queryOne<Row>(
      `select p.name, p.domain, b.body as brief, p.overlay from projects p
       join blobs b on b.tenant_id = p.tenant_id and b.hash = p.brief_hash where p.id = $1`,
      [projectId],
    ),
    tx.query<{ kind: string; name: string; blob_hash: string; body: string }>(
      `select r.kind, r.name, r.blob_hash, b.body from resources r
       join blobs b on b.tenant_id = r.tenant_id and b.hash = r.blob_hash
       where r.project_id = $1 order by r.id`,
      [projectId],
    ),
  ]);
  return { ...row, resources };
}

function addProject(
  session: SessionView,
  { name, domain, brief, overlay, resources }: Awaited<ReturnType<typeof readProject>>,
  others: readonly SessionView[],
  files: Map<string, FileContent>,
  { missing, feedback }: { missing: readonly Loss[]; feedback: readonly FeedbackRecord[] },
): void {
  const { projectId, process } = session;
  files.set(constructPath({ kind: 'user_prompt', name }), brief);
  const settings = {
    project: { id: projectId, name, domain, overlay },
    session: settingsOf(session),
    otherSessions: others.map(settingsOf),
    process: process.key,
    run: describeRun(session),
    models: session.lanes.map(({ ordinal, model }) => ({ lane: ordinal, model })),
    degraded: missing.length > 0,
    missing,
    feedback,
  };
  const path = constructPath({ kind: 'project_settings' });
  files.set(path, `${JSON.stringify(settings, null, 2)}\n`);
  const free = createFreeNames();
  for (const resource of resources) {
    const place = free(`${resource.kind}/${resource.name}`, resource.blob_hash);
    files.set(constructPath({ kind: 'general_resource', name: place }), resource.body);
  }
}

/** What the person who started the run had decided about its process. */
function describeRun({ process, lanes, writerLaneId }: SessionView) {
  const isShort = process.stages.every(({ steps }) =>
    steps.every(({ alone, compute, skip }) => alone === 'run' || compute !== null || skip),
  );
  return {
    depth: process.depth,
    ask: process.askStage !== null,
    result: process.resultStage !== null,
    shortcuts: lanes.length > 1 || isShort,
    writer: lanes.find(({ id }) => id === writerLaneId)?.ordinal ?? null,
  };
}

const settingsOf = (session: SessionView) => ({
  id: session.id,
  iteration: session.iteration,
  status: session.status,
  awaiting: session.awaiting,
  until: session.untilStage,
  overlay: session.overlay,
  date: session.date,
  /** The lane that the results of this pass follow, by number, and who chose it. */
  chosen: {
    lane: session.lanes.find(({ id }) => id === session.chosenLaneId)?.ordinal ?? null,
    by: session.chosenBy,
  },
});
