import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../platform/clock.ts';
import { FileLock } from '../platform/file-lock.ts';

/** A lock between processes that are on one folder, held while a group of records is written. */
export class FolderLock {
  readonly #lock: FileLock;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#lock = new FileLock(join(folder, 'lock'));
  }

  /** Runs `work` while no other process has the lock. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (!this.#lock.tryTake()) await sleep(1);
    try {
      return await work();
    } finally {
      this.#lock.release();
    }
  }

  close(): void {
    this.#lock.close();
  }
}
