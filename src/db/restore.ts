import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf, DialecticError } from '../errors/errors.ts';
import { type Backup, listBackups, timeStamp } from './backup.ts';
import { copyDatabase, databaseFolder, restoredFolder, syncDirectory } from './data-directory.ts';
import { Database } from './database.ts';
import { removeCopy } from './database-files.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { DEFAULT_RESERVE_BYTES, describeRoom, readFreeBytes } from './disk-watch.ts';
import { EmbeddedDriver } from './embedded-driver.ts';
import { renewEpoch } from './events.ts';
import { migrate } from './migrate.ts';
import { listTables, readTable } from './tables.ts';

/** What a restoration did, so that the loss can be stated. */
export type Restoration = {
  readonly backup: Backup;
  /** Where the files lie that were in its place; absent where there were none. */
  readonly kept?: string;
};

/**
 * Puts the newest backup that can be read whole in the database's place. Nothing of the database is
 * touched before the copy has been tried; what was there is kept aside.
 */
export async function restoreStore(dataDirectory: string): Promise<Restoration> {
  const directory = resolve(dataDirectory);
  refuseWithoutBackup(directory, listBackups(directory));
  const lock = await lockDirectory(directory);
  try {
    const backups = listBackups(directory);
    refuseWithoutBackup(directory, backups);
    const backup = await prepareNewest(directory, lock, backups);
    const kept = await swap(directory);
    syncDirectory(directory);
    return { backup, ...(kept && { kept }) };
  } finally {
    await removeCopy(directory, restoredFolder(directory)).finally(() => lock.release());
  }
}

function refuseWithoutBackup(directory: string, backups: readonly Backup[]): void {
  if (backups.length > 0) return;
  throw new DialecticError('backup_missing', `${directory} holds no whole backup.`, {
    details: { directory },
  });
}

async function prepareNewest(directory: string, lock: DirectoryLock, backups: readonly Backup[]) {
  let failure: unknown;
  for (const backup of backups) {
    try {
      await unpack(directory, backup);
      await tryCopy(directory, lock);
      return backup;
    } catch (error) {
      // An older backup helps against damage alone; with it more would be lost than need be.
      if (codeOf(error) !== 'data_directory_damaged') throw error;
      failure ??= error;
    }
  }
  throw failure;
}

async function unpack(directory: string, backup: Backup): Promise<void> {
  const target = restoredFolder(directory);
  await removeCopy(directory, target);
  const free = await readFreeBytes(directory);
  const needed = backup.bytes + 2 * DEFAULT_RESERVE_BYTES;
  if (free !== undefined && free < needed) {
    const what = `The disk of ${directory} has too little room for a copy of the backup`;
    throw new DialecticError('storage_full', `${what}${describeRoom(free, needed)}.`, {
      details: { directory, neededBytes: needed, freeBytes: free },
    });
  }
  await copyDatabase(join(backup.path, 'pgdata'), target);
}

/** Opens the copy, brings it up to date and reads every row of it. */
async function tryCopy(directory: string, lock: DirectoryLock): Promise<void> {
  const folder = restoredFolder(directory);
  const database = new Database(await EmbeddedDriver.openCopy(directory, { folder, lock }));
  try {
    await migrate(database);
    for (const table of await listTables(database)) await readTable(database, table);
    await renewEpoch(database);
  } finally {
    await database.close();
  }
}

async function swap(directory: string): Promise<string | undefined> {
  const current = databaseFolder(directory);
  const kept = `${current}.replaced-${timeStamp()}`;
  if (!existsSync(current)) {
    await rename(restoredFolder(directory), current);
    return undefined;
  }
  await rename(current, kept);
  try {
    await rename(restoredFolder(directory), current);
  } catch (error) {
    await rename(kept, current);
    throw error;
  }
  return kept;
}
