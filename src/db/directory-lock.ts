import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import { now, sleep } from '../platform/clock.ts';
import { PRIVATE_MODE } from './data-directory.ts';

/** Who holds a data directory. */
type LockHolder = { readonly pid: number; readonly since: string };

/** A held lock; the kernel releases it when the process dies, however it dies. */
export type DirectoryLock = {
  /** False once the locked file is gone or another one: then a second process can get in. */
  isIntact(): boolean;
  release(): void;
};

const HOLDER_FILE = 'holder.json';
const LOCK_FILE = 'lock';
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/**
 * Takes the exclusive lock of a data directory or throws `data_directory_locked`.
 *
 * Two PGlite processes on one directory lose acknowledged commits without an error, so the lock is
 * the operating system's own, on an SQLite file: it outlives SIGSTOP, ends with kill -9 and cannot be
 * stolen. A pid file can do none of that; here it only tells the holder's name.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_MODE });
    database = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
    // A journal on disk would be a write for every opening and could be left behind.
    database.exec('pragma journal_mode = memory; begin exclusive');
    writeHolder(directory);
  } catch (cause) {
    database?.close();
    if (isOfSqlite(cause, SQLITE_BUSY)) {
      throw lockedError(directory, await readLivingHolder(directory), cause);
    }
    throw unusableError(directory, cause);
  }
  const locked = identifyFile(directory);
  return {
    isIntact: () => identifyFile(directory) === locked,
    release: () => database.close(),
  };
}

/** Which file bears the lock's name; undefined while none does. */
function identifyFile(directory: string): string | undefined {
  try {
    const { dev, ino } = statSync(join(directory, LOCK_FILE));
    return `${dev}/${ino}`;
  } catch {
    return undefined;
  }
}

function writeHolder(directory: string): void {
  const holder: LockHolder = { pid: process.pid, since: now().toISOString() };
  const temporary = join(directory, `${HOLDER_FILE}.${process.pid}`);
  try {
    writeFileSync(temporary, JSON.stringify(holder));
    renameSync(temporary, join(directory, HOLDER_FILE));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Whether SQLite gave an error this code. */
const isOfSqlite = (error: unknown, code: number): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === code;

function unusableError(directory: string, cause: unknown): DialecticError {
  const full = ['ENOSPC', 'EDQUOT'].includes(codeOf(cause)) || isOfSqlite(cause, SQLITE_FULL);
  return new DialecticError(
    full ? 'storage_full' : 'data_directory_unusable',
    `Cannot use the data directory ${directory}: ${messageOf(cause)}.`,
    { cause, details: { directory } },
  );
}

/** What the directory says of its holder; undefined where it was never held. */
function readHolder(directory: string): LockHolder | undefined {
  try {
    const file = readFileSync(join(directory, HOLDER_FILE), 'utf8');
    const { pid, since }: { pid?: unknown; since?: unknown } = JSON.parse(file);
    return typeof pid === 'number' && typeof since === 'string' ? { pid, since } : undefined;
  } catch {
    return undefined; // absent, or from another program: the lock itself is what counts
  }
}

/** Between taking the lock and writing its name a holder is still its predecessor by name. */
async function readLivingHolder(directory: string): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const holder = readHolder(directory);
    if (holder && isAlive(holder.pid)) return holder;
    await sleep(30);
  }
  return undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function lockedError(directory: string, holder: LockHolder | undefined, cause: unknown) {
  const who = holder ? `process ${holder.pid} (since ${holder.since})` : 'another process';
  return new DialecticError(
    'data_directory_locked',
    `The data directory ${directory} is in use by ${who}.`,
    { cause, details: { directory, pid: holder?.pid ?? null } },
  );
}
