import { statfs } from 'node:fs/promises';
import { DialecticError } from '../errors/errors.ts';
import { elapsedMs } from '../platform/clock.ts';

const QUOTA_RETRY_MS = 5_000;

/** Free bytes on the disk of a folder; undefined where the system does not say. */
export async function readFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** Knows whether the disk of a directory has room to write. */
export class DiskWatch {
  readonly #directory: string;
  readonly reserveBytes: number;
  #fullSince: number | undefined;

  constructor(directory: string, reserveBytes: number) {
    this.#directory = directory;
    this.reserveBytes = reserveBytes;
  }

  get isFull(): boolean {
    return this.#fullSince !== undefined;
  }

  /** A write failed for want of room: that is known before any look at the disk. */
  noteFull(): void {
    this.#fullSince ??= elapsedMs();
  }

  /** Looks at the disk; returns whether it lacks room now. What cannot be read changes nothing. */
  async look(databaseRuns: boolean): Promise<boolean> {
    const free = await readFreeBytes(this.#directory);
    if (free === undefined) return false;
    if (free < this.reserveBytes) {
      this.noteFull();
      return true;
    }
    if (this.#fullSince !== undefined && free > this.reserveBytes * 1.25) {
      // A quota can be exhausted on a disk that has room: then only trying again can tell.
      const waited = elapsedMs() - this.#fullSince > QUOTA_RETRY_MS;
      if (databaseRuns || waited) this.#fullSince = undefined;
    }
    return false;
  }

  refuseWhenFull(): void {
    if (this.isFull) throw this.fullError();
  }

  fullError(cause?: unknown): DialecticError {
    return new DialecticError(
      'storage_full',
      `The disk of ${this.#directory} is full; nothing more is written until there is room.`,
      { cause, details: { directory: this.#directory, reserveBytes: this.reserveBytes } },
    );
  }
}
