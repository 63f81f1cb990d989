import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import {
  foreign,
  lookAt,
  readText,
  requireOwnDirectory,
  requirePlainFolder,
} from './database-files.ts';

/** What lies in a data directory is its owner's alone: the files hold every tenant's rows. */
export const PRIVATE_MODE = 0o700;

/** The database's own files, inside the data directory beside the lock and the backups. */
export const databaseFolder = (directory: string): string => join(directory, 'pgdata');

export const hasDatabase = (directory: string): boolean => existsSync(databaseFolder(directory));

/** Where a new database is made; it gets its final name only when it is whole. */
export const newDatabaseFolder = (directory: string): string => join(directory, 'pgdata.new');

/** Where a backup is unpacked and tried before it takes the database's place. */
export const restoredFolder = (directory: string): string => join(directory, 'pgdata.restoring');

export const backupsFolder = (directory: string): string => join(directory, 'backups');

/** What lies among the backups, whole or not; behind a link lies nothing of this directory. */
export function backupNames(directory: string): string[] {
  const folder = backupsFolder(directory);
  try {
    return lookAt(folder)?.isDirectory() ? readdirSync(folder) : [];
  } catch (error) {
    throw foreign(directory, folder, `cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Copies a database's files one after another, so that after a failure none is still under way. A
 * database is a thousand small files, for each of which `fs.cp` would look up every folder above it:
 * five times the processor time. Where the file system shares blocks, no byte is copied. A link would
 * copy a file from elsewhere, and a pipe would never end.
 */
export async function copyDatabase(source: string, target: string): Promise<void> {
  requirePlainFolder(dirname(source), source);
  await mkdir(target, { mode: PRIVATE_MODE });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await copyDatabase(from, to);
    else if (entry.isFile()) await copyFile(from, to, constants.COPYFILE_FICLONE);
    else throw foreign(dirname(source), from, 'is a link, a pipe or a device');
  }
}

/** Makes a rename last through a power cut, where the system can do that. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const POSTGRES_MAJOR = '18';

/** Refuses what is no directory; one that does not exist yet is fine. */
export function checkDirectory(directory: string): void {
  let problem = 'it is not a directory';
  try {
    if (statSync(directory).isDirectory()) return requireOwnDirectory(directory);
  } catch (error) {
    if (error instanceof DialecticError) throw error;
    if (codeOf(error) === 'ENOENT') return;
    problem = messageOf(error);
  }
  throw new DialecticError('data_directory_unusable', `Cannot use ${directory}: ${problem}.`, {
    details: { directory },
  });
}

/**
 * What shows that a database was here and is not whole any more; undefined where all is well or
 * nothing was ever here. PGlite would make a new, empty database over it without a word.
 */
export function findDamage(directory: string): string | undefined {
  const folder = databaseFolder(directory);
  if (existsSync(folder)) return findMissingVersion(folder);
  if (!existsSync(directory)) return undefined;
  const traces = readdirSync(directory).filter((name) => {
    if (name === 'backups') return backupNames(directory).length > 0;
    return name.startsWith('pgdata.') && name !== 'pgdata.new';
  });
  return traces.length === 0 ? undefined : `pgdata is missing beside ${traces.join(' and ')}`;
}

/** Every whole database has this file, since it is renamed into its place only when it is whole. */
export function findMissingVersion(folder: string): string | undefined {
  return existsSync(join(folder, 'PG_VERSION')) ? undefined : 'its PG_VERSION is missing';
}

/** Refuses the files of another PostgreSQL than the embedded one. */
export function refuseOtherMajor(directory: string, folder: string): void {
  const found = /^\d+/.exec(readText(join(folder, 'PG_VERSION')) ?? '')?.[0] ?? 'unknown';
  if (found === POSTGRES_MAJOR) return;
  throw new DialecticError(
    'data_directory_unusable',
    `${directory} holds a PostgreSQL ${found} database; this version reads ${POSTGRES_MAJOR}.`,
    { details: { directory, found } },
  );
}
