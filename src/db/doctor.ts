import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { listBackups, readBackupFailure } from './backup.ts';
import { checkDirectory, databaseFolder, findDamage } from './data-directory.ts';
import type { Database } from './database.ts';
import { readFreeBytes } from './disk-watch.ts';
import { DEFAULT_RESERVE_BYTES } from './embedded-driver.ts';
import { hasNewerFunctions, readSchemaVersion } from './migrate.ts';
import { openDatabase, type StoreLocation } from './open.ts';
import { readSchemaFiles } from './schema-files.ts';
import { describeUrl } from './server-errors.ts';
import { listTables, readTable } from './tables.ts';

/** What one check found. */
export type Finding = { readonly check: string; readonly ok: boolean; readonly message: string };

const good = (check: string, message: string): Finding => ({ check, ok: true, message });
const bad = (check: string, message: string): Finding => ({ check, ok: false, message });

/** Looks a store over without changing its schema or its rows, as far as it can be opened. */
export async function examineStore(location: StoreLocation): Promise<Finding[]> {
  const runtime = good('node', `Node ${process.versions.node} on ${process.platform}`);
  if ('databaseUrl' in location) {
    const server = good('server', describeUrl(location.databaseUrl));
    return [runtime, server, ...(await examineDatabase(location))];
  }
  const directory = resolve(location.dataDirectory);
  checkDirectory(directory);
  if (!existsSync(databaseFolder(directory)) && !findDamage(directory)) {
    return [runtime, good('data directory', `${directory} holds no database yet`)];
  }
  return [runtime, ...(await examineFolder(directory)), ...(await examineDatabase(location))];
}

async function examineFolder(directory: string): Promise<Finding[]> {
  const free = await readFreeBytes(directory);
  const freeMb = free === undefined ? 'unknown' : Math.floor(free / 1e6);
  const backups = listBackups(directory);
  const newest = backups[0];
  const failure = readBackupFailure(directory);
  return [
    good('data directory', directory),
    {
      check: 'disk',
      ok: free === undefined || free >= DEFAULT_RESERVE_BYTES,
      message: `${freeMb} MB free`,
    },
    good('backups', newest ? `${backups.length}, the newest of ${newest.createdAt}` : 'none yet'),
    ...(failure ? [bad('last backup', `failed at ${failure.at}: ${failure.message}`)] : []),
  ];
}

async function examineDatabase(location: StoreLocation): Promise<Finding[]> {
  let database: Database;
  try {
    database = await openDatabase(location, { backupEveryMs: 0, migrate: false });
  } catch (error) {
    return [bad('database', describe(error))];
  }
  try {
    return await examineContents(database);
  } catch (error) {
    return [bad('database', describe(error))];
  } finally {
    await database.close();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof DialecticError)) throw error;
  return `${error.code}: ${error.message} ${error.action}`;
}

async function examineContents(database: Database): Promise<Finding[]> {
  const engineVersion = await database.transaction({ as: 'owner' }, (tx) =>
    tx.queryOne<{ version: string }>("select current_setting('server_version') as version"),
  );
  const engine = good('database', `PostgreSQL ${engineVersion.version}`);
  const version = await readSchemaVersion(database);
  if (version === undefined) return [engine, bad('schema', 'there is no Dialectic schema in it')];
  const newest = readSchemaFiles().migrations.at(-1)?.version ?? 0;
  const others = (await hasNewerFunctions(database)) ? ', with functions of a newer build' : '';
  const schema = {
    check: 'schema',
    ok: version <= newest,
    message: `version ${version} of ${newest}${others}`,
  };
  return [engine, schema, ...(await examineTables(database))];
}

/** One finding for each table that cannot be read, so that the extent of a damage is seen. */
async function examineTables(database: Database): Promise<Finding[]> {
  const tables = await listTables(database);
  const unreadable: Finding[] = [];
  for (const name of tables) {
    try {
      await readTable(database, name);
    } catch (error) {
      unreadable.push(bad(`table ${name}`, describe(error)));
    }
  }
  const read = tables.length - unreadable.length;
  return [
    { check: 'tables', ok: unreadable.length === 0, message: `${read} read whole` },
    ...unreadable,
  ];
}
