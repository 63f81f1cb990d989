import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DialecticError } from '../platform/errors.ts';
import { type Backup, listBackups, restoreBackup } from './backup.ts';
import type { Database } from './database.ts';
import { lockDirectory } from './directory-lock.ts';
import { databaseFolder } from './embedded-driver.ts';
import { readMigrations } from './migrate.ts';
import { openDatabase, type StoreLocation } from './open.ts';

export type Finding = { readonly check: string; readonly ok: boolean; readonly message: string };

/** Looks a store over without changing it, as far as it can be opened. */
export async function examineStore(location: StoreLocation): Promise<Finding[]> {
  const findings: Finding[] = [examineRuntime()];
  if ('dataDirectory' in location) findings.push(...(await examineFolder(location.dataDirectory)));
  findings.push(...(await examineDatabase(location)));
  return findings;
}

function examineRuntime(): Finding {
  return {
    check: 'node',
    ok: true,
    message: `Node ${process.versions.node} on ${process.platform}`,
  };
}

async function examineFolder(dataDirectory: string): Promise<Finding[]> {
  const directory = resolve(dataDirectory);
  if (!existsSync(databaseFolder(directory))) {
    return [{ check: 'data directory', ok: true, message: `${directory} holds no database yet` }];
  }
  const { bavail, bsize } = await statfs(directory);
  const freeMb = Math.floor((bavail * bsize) / 1e6);
  const backups = await listBackups(directory);
  const newest = backups[0];
  return [
    { check: 'data directory', ok: true, message: directory },
    { check: 'disk', ok: freeMb >= 64, message: `${freeMb} MB free` },
    {
      check: 'backups',
      ok: true,
      message: newest ? `${backups.length}, the newest of ${newest.createdAt}` : 'none yet',
    },
  ];
}

async function examineDatabase(location: StoreLocation): Promise<Finding[]> {
  if ('dataDirectory' in location && !existsSync(databaseFolder(resolve(location.dataDirectory)))) {
    return [];
  }
  let database: Database;
  try {
    database = await openDatabase(location, { backupEveryMs: 0 });
  } catch (error) {
    if (!(error instanceof DialecticError)) throw error;
    const message = `${error.code}: ${error.message} ${error.action}`;
    return [{ check: 'database', ok: false, message }];
  }
  try {
    return await examineTables(database);
  } finally {
    await database.close();
  }
}

/** Reads every row once: a page that cannot be read shows here and not in the middle of a run. */
async function examineTables(database: Database): Promise<Finding[]> {
  return database.transaction({ as: 'owner' }, async (tx) => {
    const [version] = await tx.query<{ v: string }>(
      "select current_setting('server_version') as v",
    );
    const tables = await tx.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    );
    for (const { name } of tables) await tx.query(`select count(t::text) from "${name}" t`);
    return [
      { check: 'database', ok: true, message: `PostgreSQL ${version!.v}` },
      { check: 'schema', ok: true, message: `version ${readMigrations().at(-1)!.version}` },
      { check: 'tables', ok: true, message: `${tables.length} read whole` },
    ];
  });
}

/** What a restoration did, so that the loss can be stated. */
export type Restoration = { readonly backup: Backup; readonly kept: string };

/** Puts the newest backup that opens in the database's place; what was there is kept aside. */
export async function restoreStore(dataDirectory: string): Promise<Restoration> {
  const directory = resolve(dataDirectory);
  const backups = await listBackups(directory);
  let failure: unknown;
  for (const backup of backups.length === 0 ? [undefined] : backups) {
    const lock = await lockDirectory(directory);
    const { kept } = await restoreBackup(directory, backup).finally(() => lock.release());
    try {
      const database = await openDatabase({ dataDirectory: directory }, { backupEveryMs: 0 });
      await database.close();
      return { backup: backup!, kept };
    } catch (error) {
      failure = error; // an older backup may still open
    }
  }
  throw failure;
}
