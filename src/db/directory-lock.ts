import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import { now, sleep } from '../platform/clock.ts';
import { FileLock, isOfSqlite } from '../platform/file-lock.ts';
import { replaceText } from '../platform/safe-writes.ts';
import { PRIVATE_MODE } from './data-directory.ts';
import { isTime, readText, requireOwnDirectory } from './database-files.ts';
import { DEFAULT_RESERVE_BYTES, describeRoom, neededToGoOn, readFreeNow } from './disk-watch.ts';

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
const SQLITE_FULL = 13;

/**
 * Takes the exclusive lock of a data directory or throws `data_directory_locked`.
 *
 * Two PGlite processes on one directory lose acknowledged commits without an error. A pid file could
 * be stale or stolen; here it only tells the holder's name.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  let lock: FileLock | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: PRIVATE_MODE });
    requireOwnDirectory(directory);
    lock = new FileLock(join(directory, LOCK_FILE));
    if (!lock.tryTake()) throw lockedError(directory, await readLivingHolder(directory));
    await writeHolder(directory);
  } catch (cause) {
    lock?.close();
    throw cause instanceof DialecticError ? cause : unusableError(directory, cause);
  }
  const locked = identifyFile(directory);
  const taken = lock;
  return {
    isIntact: () => identifyFile(directory) === locked,
    release: () => taken.close(),
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

async function writeHolder(directory: string): Promise<void> {
  const holder: LockHolder = { pid: process.pid, since: now().toISOString() };
  await replaceText(join(directory, HOLDER_FILE), JSON.stringify(holder));
}

function unusableError(directory: string, cause: unknown): DialecticError {
  const full = ['ENOSPC', 'EDQUOT'].includes(codeOf(cause)) || isOfSqlite(cause, SQLITE_FULL);
  const [free, needed] = [readFreeNow(directory), neededToGoOn(DEFAULT_RESERVE_BYTES)];
  return new DialecticError(
    full ? 'storage_full' : 'data_directory_unusable',
    `Cannot use the data directory ${directory}: ${messageOf(cause)}${full ? describeRoom(free, needed) : ''}.`,
    { cause, details: { directory } },
  );
}

/** What the directory says of its holder; undefined where it was never held. */
function readHolder(directory: string): LockHolder | undefined {
  try {
    const file = readText(join(directory, HOLDER_FILE)) ?? '';
    const { pid, since }: { pid?: unknown; since?: unknown } = JSON.parse(file);
    return isPid(pid) && isTime(since) ? { pid, since } : undefined;
  } catch {
    return undefined; // absent, or from another program: the lock itself is what counts
  }
}

const isPid = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Between taking the lock and writing its name a holder is still its predecessor by name. */
async function readLivingHolder(directory: string): Promise<LockHolder | undefined> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const holder = readHolder(directory);
    if (holder && isAlive(holder.pid)) return holder;
    await sleep(30);
  }
  return undefined;
}

/** Signal 0 only asks; nothing that a holder's file says is ever signalled. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function lockedError(directory: string, holder: LockHolder | undefined) {
  const who = holder ? `process ${holder.pid} (since ${holder.since})` : 'another process';
  return new DialecticError(
    'data_directory_locked',
    `The data directory ${directory} is in use by ${who}.`,
    { details: { directory, pid: holder?.pid ?? null } },
  );
}
