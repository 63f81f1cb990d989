import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DialecticError } from '../errors/errors.ts';

const SQLITE_BUSY = 5;

/**
 * An exclusive lock on a file between processes. It is the operating system's own (on an SQLite
 * file), so it outlives SIGSTOP, ends with kill -9 and cannot be stolen.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    requirePlainLock(path);
    this.#database = new DatabaseSync(path, { timeout: 0 });
  }

  /** Takes the lock; false while another process has it. */
  tryTake(): boolean {
    try {
      // A journal on disk would be a write each time and could be left behind.
      this.#database.exec('pragma journal_mode = memory; begin exclusive');
      return true;
    } catch (error) {
      if (isOfSqlite(error, SQLITE_BUSY)) return false;
      throw error;
    }
  }

  /** Lets the next process take it. */
  release(): void {
    this.#database.exec('rollback');
  }

  /** Ends the use of the file, and with it a lock that is held. */
  close(): void {
    this.#database.close();
  }
}

/**
 * Nothing is ever written into a lock. One that holds something is of another program, and SQLite would
 * act on it: open the database behind a link, or play a journal back.
 */
function requirePlainLock(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || (entry.isFile() && entry.size === 0)) return;
  throw new DialecticError('data_directory_unusable', `${path} is not a lock of this program.`, {
    action: 'Nothing was changed. Look at it and take it away, or name another folder.',
  });
}

/** Whether SQLite gave an error this code. */
export const isOfSqlite = (error: unknown, code: number): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === code;
