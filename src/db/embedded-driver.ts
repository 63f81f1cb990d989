import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import pg from 'pg';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import { elapsedMs, every, sleep, withTimeout } from '../platform/clock.ts';
import { listBackups, removePartialBackups, writeBackup } from './backup.ts';
import { BackupSchedule } from './backup-schedule.ts';
import {
  databaseFolder,
  findDamage,
  findMissingVersion,
  newDatabaseFolder,
  PRIVATE_MODE,
  refuseOtherMajor,
  restoredFolder,
  syncDirectory,
} from './data-directory.ts';
import { checkDatabaseFiles, removeCopy, writeSettings } from './database-files.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { DEFAULT_RESERVE_BYTES, DiskWatch, readFreeBytes } from './disk-watch.ts';
import type { Driver, HeldConnection, Hint, Presence } from './driver.ts';
import { Listeners } from './listeners.ts';
import { PgliteThread } from './pglite-connection.ts';
import { unpackImage } from './store-image.ts';
import { valueParsers } from './value-parsers.ts';

export type EmbeddedOptions = {
  /** Below this much free space nothing is written any more. */
  readonly reserveBytes?: number;
  /** How old the last backup may grow; 0 turns backups off. */
  readonly backupEveryMs?: number;
  /** The image that a first store is unpacked from (store-image.ts); initdb makes it where absent. */
  readonly image?: string | undefined;
};

/** A copy that is tried under a lock that its holder keeps. */
type CopyOptions = { readonly folder: string; readonly lock: DirectoryLock };

const OPEN_TIMEOUT_MS = 120_000;
const STALL_MS = 3_000;
const WATCH_MS = 500;
/** What PostgreSQL says of pages, indexes and files that it cannot read. */
const DAMAGE_CODES = new Set(['XX001', 'XX002', '58P01', '58030']);

/** PGlite in a data directory that this process alone holds. */
export class EmbeddedDriver implements Driver {
  readonly kind = 'embedded';
  readonly #directory: string;
  readonly #folder: string;
  readonly #lock: DirectoryLock;
  readonly #disk: DiskWatch;
  readonly #backups: BackupSchedule;
  readonly #listeners = new Listeners();
  /** What was announced in this process: where each id is. */
  readonly #present = new Map<string, string | null>();
  #watch: { stop(): void } | undefined;
  #thread: PgliteThread | undefined;
  #client: pg.Client | undefined;
  #tail: Promise<void> = Promise.resolve();
  #heldSince: number | undefined;
  /** Why the database stopped; it may open again unless the lock is gone. */
  #failure: string | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    directory: string,
    { folder, lock }: CopyOptions,
    { reserveBytes = DEFAULT_RESERVE_BYTES, backupEveryMs = 60 * 60 * 1000 }: EmbeddedOptions,
  ) {
    this.#directory = directory;
    this.#folder = folder;
    this.#lock = lock;
    this.#disk = new DiskWatch(directory, reserveBytes);
    const write = () => this.#backUpWhileHeld();
    this.#backups = new BackupSchedule({ directory, everyMs: backupEveryMs, write });
  }

  /** Locks the directory, opens the database in it (making it if need be) and watches the disk. */
  static async open(folder: string, options: EmbeddedOptions = {}): Promise<EmbeddedDriver> {
    const directory = resolve(folder);
    const lock = await lockDirectory(directory);
    const place = { folder: databaseFolder(directory), lock };
    const driver = new EmbeddedDriver(directory, place, options);
    return driver.#open(async () => {
      const damage = findDamage(directory);
      if (damage) throw damagedError(directory, new Error(damage));
      await removePartialBackups(directory);
      await removeCopy(directory, restoredFolder(directory));
      if (!existsSync(driver.#folder)) await driver.#initialise(options.image);
    });
  }

  /** Opens a copy that lies in the directory, under the lock that its maker holds. */
  static async openCopy(directory: string, copy: CopyOptions): Promise<EmbeddedDriver> {
    const lock = { ...copy.lock, release: () => {} };
    const driver = new EmbeddedDriver(directory, { ...copy, lock }, { backupEveryMs: 0 });
    return driver.#open(async () => {});
  }

  async #open(prepare: () => Promise<void>): Promise<EmbeddedDriver> {
    try {
      await this.#disk.look(true);
      this.#disk.refuseWhenFull();
      await prepare();
      await this.#start(this.#folder);
    } catch (error) {
      await this.#thread?.terminate('crashed');
      this.#lock.release();
      throw error;
    }
    this.#watch = every(WATCH_MS, () => void this.#look());
    return this;
  }

  ready(): void {
    this.#backups.start();
  }

  async acquire(): Promise<HeldConnection> {
    if (this.#closing) throw this.#closedError();
    const turn = Promise.withResolvers<void>();
    const before = this.#tail;
    this.#tail = turn.promise;
    await before;
    try {
      this.#disk.refuseWhenFull();
      if (!this.#thread) await this.#restart();
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
    const held = await this.acquire();
    try {
      await held.client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      throw this.explain(error) ?? error;
    } finally {
      held.release();
    }
    const remove = this.#listeners.add(channel, onNotify);
    return async () => remove();
  }

  /** All who listen are in this process: nothing has to go through the database. */
  async notify(hints: readonly Hint[]): Promise<void> {
    for (const { channel, payload } of hints) this.#listeners.tell(channel, payload);
  }

  /** The directory lock says that there is no other process. */
  async announce(id: string, place: string): Promise<Presence> {
    const since = elapsedMs();
    this.#present.set(id, place);
    return {
      heldForMs: () => elapsedMs() - since,
      leavePlace: async () => void this.#present.set(id, null),
      end: async () => void this.#present.delete(id),
    };
  }

  async countPresent(places: readonly string[]): Promise<number[]> {
    const present = [...this.#present].flat();
    return places.map((place) => present.filter((one) => one === place).length);
  }

  async untilWritable(signal?: AbortSignal): Promise<void> {
    while (this.#disk.isFull && !this.#closing && !signal?.aborted) await sleep(200, signal);
  }

  explain(error: unknown): DialecticError | undefined {
    const code = codeOf(error);
    if (code === '53100') {
      this.#disk.noteFull();
      return this.#disk.fullError(error);
    }
    if (DAMAGE_CODES.has(code)) {
      this.#backups.stop(); // a copy of the damage must not push out a good one
      return damagedError(this.#directory, error);
    }
    if (this.#thread && this.#client) return undefined;
    return this.#disk.isFull ? this.#disk.fullError(error) : this.#closedError(error);
  }

  /** Copies the files with writes held back; rejects where that is not possible. */
  backup(): Promise<string> {
    return this.#backups.run();
  }

  /** Ends the database's thread as a crash would; the next use opens it again. */
  async terminateThread(): Promise<void> {
    await this.#thread?.terminate('crashed');
  }

  async cutIfSilent(): Promise<void> {} // there is no server

  /** Lets what has begun finish, closes the files, backs them up if it is time, and unlocks. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const backupIsDue = this.#backups.isDue();
    this.#backups.stop();
    try {
      await this.#tail;
      this.#watch?.stop();
      const thread = this.#thread;
      this.#thread = undefined;
      await thread?.close();
      // A command may end long before the timer strikes; its closed files make the best copy.
      const fit = thread && this.#lock.isIntact() && !this.#disk.isFull;
      if (fit && backupIsDue) await this.#backups.attempt(() => this.#backUp());
    } finally {
      this.#lock.release();
    }
  }

  async #backUpWhileHeld(): Promise<string> {
    const held = await this.acquire();
    try {
      await held.client.query('checkpoint');
      return await this.#backUp();
    } finally {
      held.release();
    }
  }

  async #backUp(): Promise<string> {
    const freeBytes = await readFreeBytes(this.#directory);
    return writeBackup(this.#directory, { freeBytes, reserveBytes: this.#disk.reserveBytes });
  }

  /** Makes a database beside its place: a kill meanwhile leaves nothing half done in it. */
  async #initialise(image: string | undefined): Promise<void> {
    const folder = newDatabaseFolder(this.#directory);
    await removeCopy(this.#directory, folder);
    if (image === undefined) {
      await mkdir(folder, { mode: PRIVATE_MODE });
      const thread = await this.#start(folder);
      await thread.close();
    } else {
      await unpackImage(image, folder).catch((cause: unknown) => {
        throw codeOf(cause) === 'ENOSPC' ? this.#disk.fullError(cause) : cause;
      });
    }
    await rename(folder, this.#folder);
    syncDirectory(this.#directory);
  }

  /** Opens the database after its thread has died; hints sent meanwhile are lost. */
  async #restart(): Promise<void> {
    if (!this.#lock.isIntact()) throw this.#closedError();
    await this.#start(this.#folder);
    this.#listeners.tellAll();
  }

  async #start(folder: string): Promise<PgliteThread> {
    if (folder === this.#folder) await this.#checkFiles();
    const thread = new PgliteThread(folder);
    this.#thread = thread;
    void thread.ended.then((reason) => {
      if (reason === 'disk-full') this.#disk.noteFull();
      if (reason === 'crashed') this.#failure = thread.failure;
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
      this.#listeners.tell(channel, payload ?? '');
    });
    try {
      const opening = thread.opened().then(() => client.connect());
      await withTimeout(opening, OPEN_TIMEOUT_MS, () => new Error('it did not open in time'));
      for (const channel of this.#listeners.channels()) {
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      }
    } catch (cause) {
      await thread.terminate('crashed');
      throw this.#disk.isFull ? this.#disk.fullError(cause) : damagedError(this.#directory, cause);
    }
    this.#client = client;
    return thread;
  }

  async #checkFiles(): Promise<void> {
    const damage = findMissingVersion(this.#folder);
    if (damage) throw damagedError(this.#directory, new Error(damage));
    checkDatabaseFiles(this.#directory, this.#folder);
    refuseOtherMajor(this.#directory, this.#folder);
    await writeSettings(this.#folder);
  }

  /** Ends a thread that a full disk has stopped, or whose lock somebody took away. */
  async #look(): Promise<void> {
    if (!this.#lock.isIntact()) {
      this.#failure = 'its lock file was removed or replaced, so that others can open it';
      await this.#thread?.terminate('closed');
      return;
    }
    const lacksRoom = await this.#disk.look(this.#thread !== undefined);
    const stalled = this.#heldSince !== undefined && elapsedMs() - this.#heldSince > STALL_MS;
    if (lacksRoom && stalled) await this.#thread?.terminate('disk-full');
  }

  #closedError(error?: unknown): DialecticError {
    const deliberate = this.#closing !== undefined || !this.#lock.isIntact();
    const reason = this.#failure ? `: ${this.#failure}` : '';
    const cause = this.#failure ? new Error(this.#failure, { cause: error }) : error;
    return new DialecticError('storage_closed', `The embedded database is closed${reason}.`, {
      cause,
      retryable: !deliberate,
    });
  }
}

function damagedError(directory: string, cause: unknown): DialecticError {
  const [backup] = listBackups(directory);
  const hint = backup ? `The last backup is of ${backup.createdAt}.` : 'There is no backup.';
  return new DialecticError(
    'data_directory_damaged',
    `The database in ${directory} cannot be read: ${messageOf(cause)}. ${hint}`,
    { cause, details: { directory, backup: backup?.createdAt ?? null } },
  );
}
