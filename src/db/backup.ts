import { rmSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DialecticError, messageOf } from '../errors/errors.ts';
import { now } from '../platform/clock.ts';
import { replaceText } from '../platform/safe-writes.ts';
import {
  backupNames,
  backupsFolder,
  copyDatabase,
  databaseFolder,
  PRIVATE_MODE,
} from './data-directory.ts';
import { isTime, lookAt, readText, removeCopy, requirePlainFolder } from './database-files.ts';

/** A whole copy of the database's files, taken while nothing was written. */
export type Backup = { readonly path: string; readonly createdAt: string; readonly bytes: number };

const DAY_MS = 24 * 60 * 60 * 1000;
/** The names of `timeStamp`: what is called otherwise is never deleted. */
const STAMP = String.raw`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z`;
const WHOLE = new RegExp(`${STAMP}$`);
const PARTIAL = new RegExp(String.raw`${STAMP}\.partial$`);

/** A time as a part of a file name. */
export const timeStamp = (): string => now().toISOString().replace(/[:.]/g, '-');

type Room = { readonly freeBytes: number | undefined; readonly reserveBytes: number };

/** Copies `pgdata`; the copy gets its final name only when it is whole. Old ones go then. */
export async function writeBackup(directory: string, room: Room): Promise<string> {
  const source = databaseFolder(directory);
  const bytes = await folderBytes(source);
  refuseWithoutRoom(bytes, room);
  const createdAt = now().toISOString();
  requirePlainFolder(directory, backupsFolder(directory));
  const path = join(backupsFolder(directory), timeStamp());
  const partial = `${path}.partial`;
  await mkdir(backupsFolder(directory), { recursive: true, mode: PRIVATE_MODE });
  await mkdir(partial, { mode: PRIVATE_MODE }); // its own, or what fails below would delete another's
  try {
    await copyDatabase(source, join(partial, 'pgdata'));
    await writeFile(join(partial, 'backup.json'), JSON.stringify({ createdAt, bytes }));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
  await removeOldBackups(directory);
  return path;
}

/** One with something else in it stays, and is named once all the others are gone. */
async function removeOldBackups(directory: string): Promise<void> {
  const backups = listBackups(directory);
  const kept = worthKeeping(backups);
  const failures: unknown[] = [];
  for (const backup of backups) {
    const isDue = !kept.has(backup) && WHOLE.test(basename(backup.path));
    if (!isDue) continue;
    await removeCopy(directory, backup.path).catch((error: unknown) => failures.push(error));
  }
  const [first] = failures;
  if (first === undefined) return;
  const message = `The backup was made, but an older one stays. ${messageOf(first)}`;
  throw new DialecticError('data_directory_unusable', message, { cause: first });
}

/** A backup must not be what fills the disk: there must be room for the work, and for another. */
function refuseWithoutRoom(bytes: number, { freeBytes, reserveBytes }: Room): void {
  const needed = bytes + Math.max(bytes, 2 * reserveBytes);
  if (freeBytes === undefined || freeBytes > needed) return;
  const [neededMb, freeMb] = [needed, freeBytes].map((size) => Math.ceil(size / 1e6));
  throw new DialecticError(
    'storage_full',
    `There is too little room for a backup: ${neededMb} MB are needed, ${freeMb} MB are free.`,
  );
}

/**
 * The two newest, one that is a day old and one that is a week old: damage that goes unnoticed for
 * hours must not push the last good copy out. For each age the next in line stays too, or none
 * would ever grow that old; so there are six at most.
 */
export function worthKeeping(newestFirst: readonly Backup[]): Set<Backup> {
  const kept = new Set(newestFirst.slice(0, 2));
  const newest = newestFirst[0];
  if (!newest) return kept;
  for (const ageMs of [DAY_MS, 7 * DAY_MS]) {
    const before = Date.parse(newest.createdAt) - ageMs;
    const isOld = ({ createdAt }: Backup): boolean => Date.parse(createdAt) <= before;
    const old = newestFirst.find(isOld);
    const nextInLine = newestFirst.findLast((backup) => !isOld(backup));
    for (const backup of [old, nextInLine]) if (backup) kept.add(backup);
  }
  return kept;
}

/** The whole backups, newest first; a folder without a manifest of ours is none. */
export function listBackups(directory: string): Backup[] {
  const folder = backupsFolder(directory);
  const backups = backupNames(directory).flatMap((name) => readBackup(join(folder, name)));
  return backups.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}

function readBackup(path: string): Backup[] {
  if (path.endsWith('.partial') || !lookAt(path)?.isDirectory()) return [];
  try {
    const { createdAt, bytes } = JSON.parse(readText(join(path, 'backup.json')) ?? '');
    const isOurs = isTime(createdAt) && Number.isSafeInteger(bytes) && bytes >= 0;
    return isOurs ? [{ path, createdAt, bytes }] : [];
  } catch {
    return []; // absent or cut short: only usable backups are listed
  }
}

/** Removes copies that a dead process left half done. */
export async function removePartialBackups(directory: string): Promise<void> {
  for (const name of backupNames(directory).filter((name) => PARTIAL.test(name))) {
    await removeCopy(directory, join(backupsFolder(directory), name));
  }
}

/** Why the last backup is missing, for `dialectic doctor`. */
type BackupFailure = { readonly at: string; readonly message: string };

const failureFile = (directory: string): string => join(directory, 'backup-failed.json');

/** A link in the place of the file is replaced, not followed. */
export async function recordBackupFailure(directory: string, error: unknown): Promise<void> {
  const failure: BackupFailure = { at: now().toISOString(), message: messageOf(error) };
  try {
    await replaceText(failureFile(directory), JSON.stringify(failure));
  } catch {
    // The same full or vanished disk that stopped the backup; there is no better place to say it.
  }
}

export function forgetBackupFailure(directory: string): void {
  rmSync(failureFile(directory), { force: true });
}

export function readBackupFailure(directory: string): BackupFailure | undefined {
  try {
    const file = readText(failureFile(directory)) ?? '';
    const { at, message }: { at?: unknown; message?: unknown } = JSON.parse(file);
    return isTime(at) && typeof message === 'string' ? { at, message } : undefined;
  } catch {
    return undefined; // none, or one that a full disk cut short
  }
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
