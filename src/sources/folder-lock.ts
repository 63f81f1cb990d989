import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sleep } from '../platform/clock.ts';

const SQLITE_BUSY = 5;

/**
 * A lock between processes that are on one folder, held for as long as a group of records is written. It
 * is the operating system's own (on an SQLite file), so it ends with the process.
 */
export class FolderLock {
  readonly #database: DatabaseSync;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  }

  /** Runs `work` while no other process has the lock. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (!this.#take()) await sleep(1);
    try {
      return await work();
    } finally {
      this.#database.exec('rollback');
    }
  }

  #take(): boolean {
    try {
      // A journal on disk would be a write for every group; the pragma waits for the lock, too.
      this.#database.exec('pragma journal_mode = memory; begin exclusive');
      return true;
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)
        return false;
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}
