import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * An exclusive lock on a file between processes. It is the operating system's own (on an SQLite
 * file), so it outlives SIGSTOP, ends with kill -9 and cannot be stolen.
 */
export class FileLock {
  readonly #database: DatabaseSync;

  constructor(path: string) {
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

/** Whether SQLite gave an error this code. */
export const isOfSqlite = (error: unknown, code: number): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === code;
