import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { listBackups, readBackupFailure } from './backup.ts';
import { checkDirectory, findDamage, hasDatabase } from './data-directory.ts';
import type { Database } from './database.ts';
import { DEFAULT_RESERVE_BYTES, readFreeBytes } from './disk-watch.ts';
import { hasNewerFunctions, readSchemaVersion } from './migrate.ts';
import { openDatabase, type StoreLocation } from './open.ts';
import { readSchemaFiles } from './schema-files.ts';
import { describeUrl } from './server-errors.ts';
import { findOpenRights, listStoreRoles } from './server-rights.ts';
import { listAllTables, listTables, readTable } from './tables.ts';

/** What one check found. */
export type Finding = {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  /** What a person does next; null where there is nothing to do. */
  readonly next: string | null;
  /** The same for programs, where there is more to tell. */
  readonly details?: object;
};

const good = (check: string, message: string, next: string | null = null): Finding => ({
  check,
  ok: true,
  message,
  next,
});
const bad = (check: string, message: string, next: string): Finding => ({
  check,
  ok: false,
  message,
  next,
});

const FIRST_COMMAND = 'Nothing to do: the first command, `dialectic run` for example, makes it.';

/** What other rooms look at in a store. */
type Examine = (database: Database) => Promise<Finding[]>;

/** Looks a store over without changing its schema or its rows, as far as it can be opened. */
export async function examineStore(
  location: StoreLocation,
  examineMore: Examine = async () => [],
): Promise<Finding[]> {
  const runtime = good('node', `Node ${process.versions.node} on ${process.platform}`);
  if ('databaseUrl' in location) {
    const server = good('server', describeUrl(location.databaseUrl));
    return [runtime, server, ...(await examineDatabase(location, examineMore))];
  }
  const directory = resolve(location.dataDirectory);
  checkDirectory(directory);
  if (!hasDatabase(directory) && !findDamage(directory)) {
    const fresh = good('data directory', `${directory} holds no database yet`, FIRST_COMMAND);
    return [runtime, fresh, await examineDisk(nearestFolder(directory))];
  }
  const folder = await examineFolder(directory);
  return [runtime, ...folder, ...(await examineDatabase(location, examineMore))];
}

/** The folder itself or, where it is still to be made, the one in which it will be. */
const nearestFolder = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));

async function examineDisk(directory: string): Promise<Finding> {
  const free = await readFreeBytes(directory);
  if (free === undefined) return good('disk', 'free space unknown');
  const message = `${Math.floor(free / 1e6)} MB free`;
  if (free >= DEFAULT_RESERVE_BYTES) return good('disk', message);
  const needed = `Free some space: work stops below ${DEFAULT_RESERVE_BYTES / 1e6} MB.`;
  return bad('disk', message, needed);
}

async function examineFolder(directory: string): Promise<Finding[]> {
  const backups = listBackups(directory);
  const newest = backups[0];
  const failure = readBackupFailure(directory);
  const retry = 'Mend the cause; the next command that keeps the store open makes another.';
  return [
    good('data directory', directory),
    await examineDisk(directory),
    good('backups', newest ? `${backups.length}, the newest of ${newest.createdAt}` : 'none yet'),
    ...(failure ? [bad('last backup', `failed at ${failure.at}: ${failure.message}`, retry)] : []),
  ];
}

async function examineDatabase(location: StoreLocation, examineMore: Examine): Promise<Finding[]> {
  let database: Database;
  try {
    database = await openDatabase(location, { backupEveryMs: 0, migrate: false });
  } catch (error) {
    return [describe('database', error)];
  }
  try {
    return await examineContents(database, examineMore);
  } catch (error) {
    return [describe('database', error)];
  } finally {
    await database.close();
  }
}

/** A store that another process works with is no fault: it was opened there. */
function describe(check: string, error: unknown): Finding {
  if (!(error instanceof DialecticError)) throw error;
  const { code, message, action } = error;
  if (code !== 'data_directory_locked') return bad(check, `${code}: ${message}`, action);
  return good(check, message, 'Look again when that process has ended, to have the tables read.');
}

async function examineContents(database: Database, examineMore: Examine): Promise<Finding[]> {
  const engineVersion = await database.transaction({ as: 'owner' }, (tx) =>
    tx.queryOne<{ version: string }>("select current_setting('server_version') as version"),
  );
  const engine = good('database', `PostgreSQL ${engineVersion.version}`);
  const rights = await examineRights(database);
  const version = await readSchemaVersion(database);
  if (version === undefined) return [engine, ...rights, await examineFresh(database)];
  const newest = readSchemaFiles().migrations.at(-1)?.version ?? 0;
  const others = (await hasNewerFunctions(database)) ? ', with functions of a newer build' : '';
  const message = `version ${version} of ${newest}${others}`;
  const update = 'Update Dialectic: a newer version has used this database.';
  const migrate = version < newest ? 'The next command brings it up to date.' : null;
  const schema =
    version > newest
      ? bad('schema', message, update)
      : good('schema', message, others ? update : migrate);
  const tables = await examineTables(database);
  return [engine, ...rights, schema, ...tables, ...(await examineMore(database))];
}

/** Who else on a server could reach the store; nothing for an embedded one. */
async function examineRights(database: Database): Promise<Finding[]> {
  const roles = await listStoreRoles(database);
  const open = await findOpenRights(database);
  return [
    ...(roles.length > 0 ? [good('roles', roles.join(', '))] : []),
    ...open.map(({ message, next, isHole }) => (isHole ? bad : good)('rights', message, next)),
  ];
}

/** A database without our schema is new, unless somebody else's tables are in it. */
async function examineFresh(database: Database): Promise<Finding> {
  const tables = await listAllTables(database);
  if (tables.length === 0) return good('schema', 'there is none yet', FIRST_COMMAND);
  const message = `there is none, but ${tables.length} tables of something else`;
  return bad('schema', message, 'Name an empty database in DATABASE_URL.');
}

/** One finding for each table that cannot be read, so that the extent of a damage is seen. */
async function examineTables(database: Database): Promise<Finding[]> {
  const tables = await listTables(database);
  const unreadable: Finding[] = [];
  for (const name of tables) {
    try {
      await readTable(database, name);
    } catch (error) {
      unreadable.push(describe(`table ${name}`, error));
    }
  }
  const read = tables.length - unreadable.length;
  const tally = `${read} read whole`;
  const restore = 'Put the last backup back with: dialectic doctor --restore';
  return [
    unreadable.length === 0 ? good('tables', tally) : bad('tables', tally, restore),
    ...unreadable,
  ];
}
