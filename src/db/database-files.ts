import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, DialecticError } from '../errors/errors.ts';
import { readRegularFileSync } from '../platform/read-regular-file.ts';
import { replaceText } from '../platform/safe-writes.ts';

// A data directory may come from somebody else. What is checked here is what PostgreSQL, and copies of
// its files, would take from it otherwise: files beyond the folder, pipes that never end, and settings.

/** The folders and files that initdb and a running database put at the top of a database. */
const TOP_FOLDERS = /^(?:base|global|pg_[a-z_]+)$/;
const TOP_FILES = new RegExp(
  `^(?:${[
    String.raw`PG_VERSION|backup_manifest|current_logfiles`,
    String.raw`postgresql(?:\.auto)?\.conf|postmaster\.(?:pid|opts)|pg_(?:hba|ident)\.conf`,
  ].join('|')})$`,
);
/** And below these: folders of databases, and those of the write-ahead log, of locks and of sorting. */
const FOLDERS = /^(?:\d+|pgsql_tmp|archive_status|summaries|members|offsets|mappings|snapshots)$/;
const FILES = new RegExp(
  `^(?:${[
    String.raw`t?\d+(?:_\d+)?(?:_(?:fsm|vm|init))?(?:\.\d+)?`, // tables and indexes
    String.raw`[\dA-F]{4,}(?:\.[\dA-F]+)?(?:\.(?:partial|backup|history|summary|done|ready))*`,
    String.raw`PG_VERSION|pg_(?:control|filenode\.map|internal\.init)(?:\.\d+)?`,
    String.raw`replorigin_checkpoint|xlogtemp\.\d+|pgstat\.stat|pgsql_tmp\d+\.\d+`,
    String.raw`map-[\da-f-]+|[\dA-F]+-[\dA-F]+\.snap`,
  ].join('|')})$`,
);
/** Files that PostgreSQL or this program was writing. */
const UNFINISHED = /^(?:.*\.tmp|\.dialectic-.*)$/;
/** They make PostgreSQL recover from elsewhere as it starts; no backup of this program has one. */
const RECOVERY = ['recovery.signal', 'standby.signal', 'backup_label', 'tablespace_map'];

/**
 * The settings of every embedded store: those that initdb would write, as far as they are not the
 * defaults. The rest is told to PostgreSQL at its start (pglite-thread.ts).
 */
const SETTINGS = `# Written whenever the store is opened: other settings do not count.
max_connections = 100
dynamic_shared_memory_type = posix
max_wal_size = 1GB
min_wal_size = 80MB
log_timezone = UTC
datestyle = 'iso, mdy'
timezone = UTC
lc_messages = C
lc_monetary = C
lc_numeric = C
lc_time = C
default_text_search_config = 'pg_catalog.english'
`;
const WRITTEN: Readonly<Record<string, string>> = {
  'postgresql.conf': SETTINGS,
  'postgresql.auto.conf': '# Emptied whenever the store is opened: see postgresql.conf.\n',
};
const MOST_SETTINGS = 1_000_000;

/** Refuses what no database of this program holds, before PostgreSQL opens its files. */
export function checkDatabaseFiles(directory: string, folder: string): void {
  requirePlainFolder(directory, folder);
  requireOwnOwner(directory, folder);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) continue;
    throw foreign(directory, join(entry.parentPath, entry.name), 'is a link, a pipe or a device');
  }
  const found = RECOVERY.find((name) => lookAt(join(folder, name)));
  if (found) throw foreign(directory, join(folder, found), 'would restore files from elsewhere');
}

/** As PostgreSQL does: who owns the files can read and change them at any time. Root may open any. */
function requireOwnOwner(directory: string, folder: string): void {
  refuseOwner(directory, folder, lookAt(folder)?.uid);
}

/**
 * The same for the data directory, which may be a link: its owner can put other files in the place of
 * ours at any time, whoever owns these.
 */
export function requireOwnDirectory(directory: string): void {
  const { uid } = statSync(directory);
  // A volume of a container belongs to root, which can do all of that anyway.
  if (uid !== 0) refuseOwner(directory, directory, uid);
}

function refuseOwner(directory: string, path: string, owner: number | undefined): void {
  const user = process.getuid?.() ?? 0;
  if (user === 0 || owner === undefined || owner === user) return;
  throw foreign(directory, path, 'belongs to another user');
}

/**
 * Puts the program's own settings in the place of what the files say: they could switch fsync off,
 * name libraries and commands, or read other files. A link in their place is replaced.
 */
export async function writeSettings(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(WRITTEN)) {
    const path = join(folder, name);
    if (readText(path, MOST_SETTINGS) !== text) await replaceText(path, text, { mode: 0o600 });
  }
}

/** Refuses a folder of the data directory that is a link, or no folder. */
export function requirePlainFolder(directory: string, folder: string): void {
  const entry = lookAt(folder);
  if (entry === null || entry.isDirectory()) return;
  throw foreign(directory, folder, entry.isSymbolicLink() ? 'is a link' : 'is no folder');
}

/**
 * Deletes a database, or a backup of one, that a dead process left. Only what it can have left goes:
 * anything of another name in it, at any depth, is of somebody else, and nothing is deleted.
 */
export async function removeCopy(directory: string, folder: string): Promise<void> {
  if (lookAt(folder) === null) return;
  requirePlainFolder(directory, folder);
  const names = readdirSync(folder);
  const isBackup = names.includes('pgdata') || names.includes('backup.json');
  const beside = names.find((name) => isBackup && name !== 'pgdata' && name !== 'backup.json');
  if (beside) throw foreign(directory, join(folder, beside), 'is not of a backup');
  const database = isBackup ? join(folder, 'pgdata') : folder;
  requirePlainFolder(directory, database);
  const other = lookAt(database) ? findOther(database, TOP_FOLDERS, TOP_FILES) : undefined;
  if (other) throw foreign(directory, other, 'is not of a database');
  await rm(folder, { recursive: true, force: true });
}

/** The first path below a folder that no database has; a link counts as a file, and only it would go. */
function findOther(folder: string, folders: RegExp, files: RegExp): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const isOurs = isFolder
      ? folders.test(entry.name)
      : files.test(entry.name) || UNFINISHED.test(entry.name);
    const other = isOurs && isFolder ? findOther(path, FOLDERS, FILES) : undefined;
    if (!isOurs || other) return other ?? path;
  }
  return undefined;
}

/** The text of a small file of a data directory; undefined where there is none that can be read. */
export function readText(path: string, most = 10_000): string | undefined {
  try {
    return readRegularFileSync(path, { atMostBytes: most, noLink: true }).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Whether a file holds a time as this program writes it, which every message can show. */
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^[\d:.TZ-]{20,30}$/.test(value) && !Number.isNaN(Date.parse(value));

/** What stands at a path itself; null where nothing does. */
export function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOTDIR') return null;
    throw thrown;
  }
}

export const foreign = (directory: string, path: string, why: string): DialecticError =>
  new DialecticError('data_directory_unusable', `Cannot use ${directory}: ${path} ${why}.`, {
    action: 'Nothing was changed. Look at it and take it away, or name another --data.',
    details: { directory, path },
  });
