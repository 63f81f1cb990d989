import { join, resolve } from 'node:path';
import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { listMoved } from '../documents/changed-files.ts';
import {
  claimFolder,
  type FileContent,
  isMarked,
  requireMarked,
  writeOwned,
} from '../documents/owned-folder.ts';
import { wasWritten } from '../documents/written-files.ts';
import { DialecticError, messageOf } from '../errors/errors.ts';
import { countWorkers } from '../jobs/workplaces.ts';
import { BrokenOff, type Slices } from '../platform/clock.ts';
import { lookAt } from '../platform/safe-writes.ts';
import { exportTree } from './export.ts';
import { exportCopies } from './export-copies.ts';
import { readSession, requireSessionId } from './read.ts';
import { type RunResult, summarise } from './summary.ts';

/** What a session has made so far, ready to be written. */
type Exported = {
  readonly files: ReadonlyMap<string, FileContent>;
  readonly result: RunResult;
  readonly projectId: string;
};

/** What a folder holds beside what every one does. */
export type ExportOptions = {
  /** The files and pages that sources were read from, byte by byte. */
  readonly copies?: boolean;
};

type ReadOptions = ExportOptions & {
  /** The folder that it is read for; the one that the session remembers where absent. */
  readonly out?: string;
  /** Whether texts are read again that this process has written into that folder. */
  readonly isWhole?: boolean;
  /** Lets others in between; one that waits for them must not read with the only connection. */
  readonly slices?: Slices | undefined;
};

/**
 * Sums a session up and, where a folder is named, writes there what it has made so far; files of an
 * earlier export are replaced, and taken away if gone. A session that remembers no folder, or one that
 * is gone or without the project's mark, remembers this one from then on.
 */
export async function writeFolder(
  database: Database,
  tenantId: string,
  sessionId: string,
  out: string | undefined,
  { copies = false }: ExportOptions = {},
): Promise<RunResult> {
  if (!out) {
    const workers = await countWorkersOf(database, sessionId);
    const read = (tx: Transaction): Promise<Exported> => readExport(tx, sessionId, { workers });
    return (await database.asTenant(tenantId, read)).result;
  }
  let project = '';
  const write: Write = (exported) => {
    project = exported.projectId;
    return writeInto(out, exported);
  };
  const result = await exportAlone(database, tenantId, sessionId, write, { copies, out });
  const { folder } = result;
  if (folder !== null && (await isMarked(folder, project))) return placeDocuments(result, out);
  const kept = await database.asTenant(tenantId, (tx) => rememberFolder(tx, sessionId, out));
  return placeDocuments({ ...result, folder: kept }, out);
}

/**
 * Sums a session up and brings the folder that it remembers up to date. A folder that cannot be
 * written never fails the run: the store holds everything, and the result says what is wrong. One
 * that is gone is not made again, since it may have been moved, or stand on another machine.
 */
export function updateFolder(
  database: Database,
  tenantId: string,
  sessionId: string,
  slices?: Slices,
): Promise<RunResult> {
  const write: Write = async (exported) => {
    const { result } = exported;
    const { folder } = result;
    if (folder === null) return result;
    try {
      if ((await lookAt(folder)) === null) throw gone(folder, sessionId);
      await requireMarked(folder, { session: sessionId, project: exported.projectId });
      const written = await writeInto(folder, exported, slices);
      return written && placeDocuments(written, folder);
    } catch (thrown) {
      if (thrown instanceof BrokenOff) throw thrown;
      return { ...result, folderProblem: messageOf(thrown) };
    }
  };
  return exportAlone(database, tenantId, sessionId, write, { slices });
}

async function writeInto(
  folder: string,
  { files, result, projectId }: Exported,
  slices?: Slices,
): Promise<RunResult | null> {
  const changed = await writeOwned(folder, projectId, files, slices);
  return changed && { ...result, changedFiles: [...changed, ...(await listMoved(folder))] };
}

/** Makes a folder the session's; what others put into it from now on does not stop the run. */
export async function takeFolder(
  database: Database,
  tenantId: string,
  sessionId: string,
  out: string,
): Promise<void> {
  const { projectId } = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
  await claimFolder(out, projectId);
  await database.asTenant(tenantId, (tx) => rememberFolder(tx, sessionId, out));
}

/** Makes a session remember its folder; the path must mean the same in every working directory. */
export async function rememberFolder(
  tx: Transaction,
  sessionId: string,
  out: string,
): Promise<string> {
  const folder = resolve(out);
  await tx.query('update sessions set folder = $2 where id = $1', [sessionId, folder]);
  return folder;
}

/** Writes what was read; null where files have gone or changed whose texts were not read again. */
type Write = (exported: Exported) => Promise<RunResult | null>;

/** The last export of each embedded store, which has one process and one connection. */
const queues = new WeakMap<Database, Promise<unknown>>();

/**
 * Reads a session and writes it while no other export of its project does: of two at a time the older
 * texts could come last, and the list of files would lack those of the other. On a server an advisory
 * lock excludes other processes until the files are written.
 */
async function exportAlone(
  database: Database,
  tenantId: string,
  sessionId: string,
  write: Write,
  options: ReadOptions = {},
): Promise<RunResult> {
  const workers = await countWorkersOf(database, sessionId);
  const exportOnce = async (read: (isWhole: boolean) => Promise<Exported>): Promise<RunResult> => {
    const written = (await write(await read(false))) ?? (await write(await read(true)));
    if (!written) throw new DialecticError('internal_error', 'A text to be written was not read.');
    return written;
  };
  if (database.driver.kind === 'server') {
    return database.aside(tenantId, async (tx) => {
      await tx.query(
        `select pg_advisory_xact_lock(hashtextextended('folder/' || project_id, 0))
         from sessions where id = $1`,
        [sessionId],
      );
      return exportOnce((isWhole) => readExport(tx, sessionId, { ...options, workers, isWhole }));
    });
  }
  // The connection is given back before the files are written: workers need it meanwhile.
  const before = queues.get(database) ?? Promise.resolve();
  const own = before.then(() =>
    exportOnce((isWhole) =>
      database.asTenant(tenantId, (tx) =>
        readExport(tx, sessionId, { ...options, slices: undefined, workers, isWhole }),
      ),
    ),
  );
  queues.set(
    database,
    own.catch(() => {}),
  );
  return own;
}

async function countWorkersOf(database: Database, sessionId: string): Promise<number> {
  requireSessionId(sessionId);
  return (await countWorkers(database, [sessionId])).get(sessionId) ?? 0;
}

async function readExport(
  tx: Transaction,
  sessionId: string,
  options: ReadOptions & { readonly workers: number },
): Promise<Exported> {
  const { workers, out, copies = false, isWhole = false, slices } = options;
  const session = { ...(await readSession(tx, sessionId)), workers };
  const { projectId } = session;
  const folder = out ?? session.folder;
  const { files, ...exported } = await exportTree(
    tx,
    session,
    (path, key) => !isWhole && (folder === null || wasWritten(resolve(folder, path), key)),
    slices,
  );
  const result = await summarise(tx, session, exported);
  if (!copies) return { files, result, projectId };
  return { files: new Map([...files, ...(await exportCopies(tx, projectId))]), result, projectId };
}

/** The result with the paths of its documents in the folder that holds them. */
const placeDocuments = (result: RunResult, folder: string): RunResult => ({
  ...result,
  documents: result.documents.map((document) => ({
    ...document,
    path: document.path && join(folder, document.path),
    dataPath: join(folder, document.dataPath),
  })),
});

const gone = (folder: string, sessionId: string): DialecticError =>
  new DialecticError(
    'folder_unusable',
    `${folder} is not there: it was moved or deleted, or is on another machine. ` +
      `Write it again with: dialectic export ${sessionId} -o DIR`,
  );
