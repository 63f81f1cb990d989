import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { elapsedMs, every, now, sleep, withTimeout } from '../platform/clock.ts';
import { DialecticError } from '../platform/errors.ts';
import { newestBackup, writeBackup } from './backup.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import type { Driver, HeldConnection } from './driver.ts';
import { PgliteThread } from './pglite-connection.ts';
import { valueParsers } from './value-parsers.ts';

export type EmbeddedOptions = {
  /** Below this much free space nothing is written any more. */
  readonly reserveBytes?: number;
  /** How old the last backup may grow; 0 turns backups off. */
  readonly backupEveryMs?: number;
};

/** The database's own files, inside the data directory beside the lock and the backups. */
export const databaseFolder = (directory: string): string => join(directory, 'pgdata');

const POSTGRES_MAJOR = '18';
const OPEN_TIMEOUT_MS = 120_000;
const STALL_MS = 3_000;
const QUOTA_RETRY_MS = 5_000;

/** PGlite in a data directory that this process alone holds. */
export class EmbeddedDriver implements Driver {
  readonly kind = 'embedded';
  readonly #directory: string;
  readonly #lock: DirectoryLock;
  readonly #reserveBytes: number;
  readonly #backupEveryMs: number;
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  readonly #timers: { stop(): void }[] = [];
  #thread: PgliteThread | undefined;
  #client: pg.Client | undefined;
  #tail: Promise<void> = Promise.resolve();
  #heldSince: number | undefined;
  #fullSince: number | undefined;
  #closed = false;

  private constructor(directory: string, lock: DirectoryLock, options: EmbeddedOptions) {
    this.#directory = directory;
    this.#lock = lock;
    this.#reserveBytes = options.reserveBytes ?? 64 * 1024 * 1024;
    this.#backupEveryMs = options.backupEveryMs ?? 60 * 60 * 1000;
  }

  /** Locks the directory, opens the database in it (making it if need be) and watches the disk. */
  static async open(folder: string, options: EmbeddedOptions = {}): Promise<EmbeddedDriver> {
    const directory = resolve(folder);
    const lock = await lockDirectory(directory);
    const driver = new EmbeddedDriver(directory, lock, options);
    try {
      await driver.#watchDisk();
      driver.#refuseWhenFull();
      refuseOtherMajor(directory);
      await driver.#start();
    } catch (error) {
      await driver.#thread?.terminate('crashed');
      lock.release();
      throw error;
    }
    driver.#timers.push(every(500, () => void driver.#watchDisk()));
    if (driver.#backupEveryMs > 0) {
      driver.#timers.push(every(driver.#backupEveryMs, () => void driver.backup()));
    }
    return driver;
  }

  async acquire(): Promise<HeldConnection> {
    const turn = Promise.withResolvers<void>();
    const before = this.#tail;
    this.#tail = turn.promise;
    await before;
    try {
      if (this.#closed) throw closedError();
      this.#refuseWhenFull();
      if (!this.#thread) await this.#start();
    } catch (error) {
      turn.resolve();
      throw error;
    }
    this.#heldSince = elapsedMs();
    const release = (): void => {
      this.#heldSince = undefined;
      turn.resolve();
    };
    return { client: this.#client!, release };
  }

  async listen(channel: string, onNotify: (payload: string) => void) {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(onNotify);
    const held = await this.acquire();
    await held.client.query(`listen ${pg.escapeIdentifier(channel)}`).finally(() => held.release());
    return async () => void listeners.delete(onNotify);
  }

  async untilWritable(signal?: AbortSignal): Promise<void> {
    while (this.#fullSince !== undefined && !this.#closed && !signal?.aborted) {
      await sleep(200, signal);
    }
  }

  explain(error: unknown): DialecticError | undefined {
    if (this.#thread && this.#client) return undefined;
    return this.#fullSince === undefined ? closedError(error) : this.#fullError(error);
  }

  /** Copies the database while nobody writes; a failed backup never stops the work. */
  async backup(): Promise<string | undefined> {
    if (this.#closed || this.#fullSince !== undefined) return undefined;
    const held = await this.acquire();
    try {
      await held.client.query('checkpoint');
      return await writeBackup(this.#directory, await this.#freeBytes());
    } finally {
      held.release();
    }
  }

  /** Ends the database's thread as a crash would; the next use opens it again. */
  async terminateThread(): Promise<void> {
    await this.#thread?.terminate('crashed');
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    for (const timer of this.#timers) timer.stop();
    await this.#tail;
    this.#closed = true;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.close();
    if (thread) await this.#backupWhenDue();
    this.#lock.release();
  }

  /** A command may end long before the timer strikes; its closed files make the best copy. */
  async #backupWhenDue(): Promise<void> {
    if (this.#backupEveryMs === 0 || this.#fullSince !== undefined) return;
    const last = await newestBackup(this.#directory);
    const ageMs = last ? now().getTime() - Date.parse(last.createdAt) : Number.POSITIVE_INFINITY;
    if (ageMs >= this.#backupEveryMs) await writeBackup(this.#directory, await this.#freeBytes());
  }

  async #start(): Promise<void> {
    const thread = new PgliteThread(databaseFolder(this.#directory));
    this.#thread = thread;
    void thread.ended.then((reason) => {
      if (reason === 'disk-full') this.#fullSince = elapsedMs();
      if (this.#thread === thread) this.#thread = undefined;
    });
    const client = new pg.Client({
      stream: () => thread.stream(),
      types: valueParsers,
      user: 'postgres',
      database: 'postgres',
      ssl: false,
    });
    client.on('error', () => {}); // the thread's end is what explains a lost connection
    client.on('notification', ({ channel, payload }) => {
      for (const onNotify of this.#listeners.get(channel) ?? []) onNotify(payload ?? '');
    });
    try {
      const opening = thread.opened().then(() => client.connect());
      await withTimeout(opening, OPEN_TIMEOUT_MS, () => new Error('it did not open in time'));
      for (const channel of this.#listeners.keys()) {
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      }
    } catch (cause) {
      await thread.terminate('crashed');
      if (this.#fullSince !== undefined) throw this.#fullError(cause);
      throw await this.#damagedError(cause);
    }
    this.#client = client;
  }

  /** Notes whether the disk is full, and ends a thread that a full disk has stopped. */
  async #watchDisk(): Promise<void> {
    const free = await this.#freeBytes();
    if (free < this.#reserveBytes) {
      this.#fullSince ??= elapsedMs();
      const stalled = this.#heldSince !== undefined && elapsedMs() - this.#heldSince > STALL_MS;
      if (stalled) await this.#thread?.terminate('disk-full');
    } else if (this.#fullSince !== undefined && free > this.#reserveBytes * 1.25) {
      // A quota can be exhausted on a disk that has room: then only trying again can tell.
      const waited = elapsedMs() - this.#fullSince > QUOTA_RETRY_MS;
      if (this.#thread || waited) this.#fullSince = undefined;
    }
  }

  async #freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#directory);
    return bavail * bsize;
  }

  #refuseWhenFull(): void {
    if (this.#fullSince !== undefined) throw this.#fullError();
  }

  #fullError(cause?: unknown): DialecticError {
    return new DialecticError(
      'storage_full',
      `The disk of ${this.#directory} is full; nothing more is written until there is room.`,
      { cause, details: { directory: this.#directory, reserveBytes: this.#reserveBytes } },
    );
  }

  async #damagedError(cause: unknown): Promise<DialecticError> {
    const backup = await newestBackup(this.#directory);
    const hint = backup ? `The last backup is of ${backup.createdAt}.` : 'There is no backup.';
    return new DialecticError(
      'data_directory_damaged',
      `The database in ${this.#directory} does not open: ${(cause as Error).message}. ${hint}`,
      { cause, details: { directory: this.#directory, backup: backup?.createdAt ?? null } },
    );
  }
}

function closedError(cause?: unknown): DialecticError {
  return new DialecticError('storage_closed', 'The embedded database is closed.', { cause });
}

function refuseOtherMajor(directory: string): void {
  const file = join(databaseFolder(directory), 'PG_VERSION');
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : POSTGRES_MAJOR;
  if (found === POSTGRES_MAJOR || found === '') return;
  throw new DialecticError(
    'data_directory_unusable',
    `${directory} holds a PostgreSQL ${found} database; this version reads ${POSTGRES_MAJOR}.`,
    { details: { directory, found } },
  );
}
