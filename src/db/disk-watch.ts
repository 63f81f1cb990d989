import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { DialecticError } from '../errors/errors.ts';
import { elapsedMs } from '../platform/clock.ts';

const QUOTA_RETRY_MS = 5_000;

/** Below it work stops: PostgreSQL needs room to end in order. */
export const DEFAULT_RESERVE_BYTES = 64 * 1024 * 1024;

/** Work goes on only with some more, or it would stop again at once. */
export const neededToGoOn = (reserveBytes: number): number => reserveBytes * 1.25;

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
  /** What was free when the disk was found full: a message that changed would be told again. */
  #freeThen: number | undefined;

  constructor(directory: string, reserveBytes: number) {
    this.#directory = directory;
    this.reserveBytes = reserveBytes;
  }

  get isFull(): boolean {
    return this.#fullSince !== undefined;
  }

  /** A write failed for want of room: that is known before any look at the disk. */
  noteFull(): void {
    if (this.#fullSince === undefined) this.#freeThen = readFreeNow(this.#directory);
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
    if (this.#fullSince !== undefined && free > neededToGoOn(this.reserveBytes)) {
      // A quota can be exhausted on a disk that has room: then only trying again can tell.
      const waited = elapsedMs() - this.#fullSince > QUOTA_RETRY_MS;
      if (databaseRuns || waited) this.#fullSince = this.#freeThen = undefined;
    }
    return false;
  }

  refuseWhenFull(): void {
    if (this.isFull) throw this.fullError();
  }

  fullError(cause?: unknown): DialecticError {
    const [directory, reserveBytes] = [this.#directory, this.reserveBytes];
    const freeBytes = this.#freeThen ?? readFreeNow(directory);
    const neededBytes = neededToGoOn(reserveBytes);
    const message =
      `The disk of ${directory} is full${describeRoom(freeBytes, neededBytes)}; ` +
      'nothing more is written until there is room.';
    const details = { directory, reserveBytes, freeBytes: freeBytes ?? null, neededBytes };
    return new DialecticError('storage_full', message, { cause, details });
  }
}

/** For a message about a disk that was just found full. */
export function readFreeNow(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** How much is free and how much is needed; a quota can be used up on a disk that has room. */
export function describeRoom(free: number | undefined, needed: number): string {
  if (free === undefined) return `: ${Math.ceil(needed / 1e6)} MB are needed to go on`;
  const freeMb = Math.floor(free / 1e6);
  if (free >= needed) return ` although ${freeMb} MB are free: a quota may be used up`;
  return `: ${freeMb} MB are free, ${Math.ceil(needed / 1e6)} MB are needed to go on`;
}
