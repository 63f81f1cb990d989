import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import type { Database } from './database.ts';
import {
  digestFunctions,
  digestOf,
  isSameMigration,
  type Migration,
  readSchemaFiles,
  type SchemaFiles,
  type SqlFile,
} from './schema-files.ts';
import { IDENTITY_TABLE, NAMED_SINCE, requireStoreId, withRoleNames } from './store-roles.ts';
import type { AnyTransaction } from './transaction.ts';

/** Advisory locks are of one database: two processes never migrate the same one at once. */
const ADVISORY_LOCK = 7_252_401;
/** The row of schema_migrations that records the functions; migrations are numbered from 1. */
const FUNCTIONS = 0;

/** The rows of schema_migrations by version; migrations have edition 0. */
type Applied = ReadonlyMap<number, { readonly digest: string; readonly edition: number }>;

/**
 * Brings the schema up to this code in one transaction, or leaves it alone: the migrations that are
 * missing, then all functions if one has changed. Functions of a newer build stay: it keeps what
 * callers of today rely on. Returns the names of the files that were applied.
 */
export async function migrate(database: Database, files = readSchemaFiles()): Promise<string[]> {
  try {
    if (isCurrent(await readRecorded(database), files)) return [];
    return await bringUpToDate(database, files);
  } catch (error) {
    throw explainMissingRights(error) ?? error;
  }
}

const bringUpToDate = (database: Database, files: SchemaFiles): Promise<string[]> =>
  database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await createRecord(tx);
    const applied = await readApplied(tx);
    checkApplied(applied, files.migrations);
    if (isCurrent(applied, files)) return [];
    const storeId = await identify(tx);
    const missing = files.migrations.filter(({ version }) => !applied.has(version));
    for (const migration of missing) {
      // A store that began with plain names keeps them until the migration that renames them.
      const isPlain = applied.size > 0 && migration.version < NAMED_SINCE;
      const { sql } = migration;
      await run(tx, { ...migration, sql: isPlain ? sql : withRoleNames(sql, storeId) });
      await record(tx, migration.version, migration.name, digestOf(sql));
    }
    await applyFunctions(tx, files, storeId);
    return [...missing, ...files.functions].map(({ name }) => name);
  });

const INSUFFICIENT_PRIVILEGE = '42501';

/** Before a tenant is known, a refusal means the login of DATABASE_URL. */
function explainMissingRights(error: unknown): DialecticError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) return undefined;
  return new DialecticError(
    'database_refused',
    `The login of DATABASE_URL may not open or set up the store: ${messageOf(cause)}. A store is used ` +
      'by the login that made it. To make one it needs CREATE on the schema public, and CREATEROLE or ' +
      'the roles that an administrator makes with what `dialectic doctor --sql` prints.',
    { cause: error },
  );
}

/** The newest migration that was applied; undefined where there is no schema of ours. */
export async function readSchemaVersion(database: Database): Promise<number | undefined> {
  const versions = [...(await readRecorded(database)).keys()];
  return versions.length === 0 ? undefined : Math.max(...versions);
}

/** Whether the store has functions of a newer build, which this one uses as they are. */
export async function hasNewerFunctions(database: Database): Promise<boolean> {
  const functions = (await readRecorded(database)).get(FUNCTIONS);
  return functions !== undefined && functions.edition > readSchemaFiles().edition;
}

const UNDEFINED_TABLE = '42P01';
const UNDEFINED_COLUMN = '42703';

/** What was applied, in one statement and without a lock; nothing where there is no schema. */
async function readRecorded(database: Database): Promise<Applied> {
  try {
    return await database.transaction({ as: 'owner' }, readApplied);
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return new Map();
    if (codeOf(error) !== UNDEFINED_COLUMN) throw error;
    return database.transaction({ as: 'owner' }, readWithoutEditions);
  }
}

async function createRecord(tx: AnyTransaction): Promise<void> {
  await tx.query(
    `create table if not exists schema_migrations (
       version int primary key, name text not null, digest text not null,
       applied_at timestamptz not null default now())`,
  );
  await tx.query(
    'alter table schema_migrations add column if not exists edition int not null default 0',
  );
}

/** The id that the names of the store's roles carry; an administrator may have chosen it before. */
async function identify(tx: AnyTransaction): Promise<string> {
  await tx.query(`create table if not exists ${IDENTITY_TABLE}`);
  await tx.query('insert into store_identity default values on conflict do nothing');
  const { id } = await tx.queryOne<{ id: string }>('select id from store_identity');
  return requireStoreId(id);
}

async function readApplied(tx: AnyTransaction): Promise<Applied> {
  const rows = await tx.query<{ version: number; digest: string; edition: number }>(
    'select version, digest, edition from schema_migrations',
  );
  return new Map(rows.map(({ version, ...row }) => [version, row]));
}

/** The same for a store of a build that had no editions. */
async function readWithoutEditions(tx: AnyTransaction): Promise<Applied> {
  const rows = await tx.query<{ version: number; digest: string }>(
    'select version, digest from schema_migrations',
  );
  return new Map(rows.map(({ version, digest }) => [version, { digest, edition: 0 }]));
}

const isCurrent = (applied: Applied, { migrations, functions, edition }: SchemaFiles): boolean => {
  const recorded = applied.get(FUNCTIONS);
  return (
    applied.size === migrations.length + 1 &&
    recorded !== undefined &&
    (recorded.edition > edition ||
      (recorded.edition === edition && recorded.digest === digestFunctions(functions))) &&
    migrations.every((one) => isSameMigration(one, applied.get(one.version)?.digest ?? ''))
  );
};

function checkApplied(applied: Applied, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const [version, { digest }] of applied) {
    if (version > newest) {
      throw new DialecticError(
        'schema_newer',
        `The database has schema ${version}; this version of Dialectic knows ${newest}.`,
        { details: { found: version, known: newest } },
      );
    }
    const migration = migrations.find((candidate) => candidate.version === version);
    if (migration && !isSameMigration(migration, digest)) {
      throw new DialecticError(
        'migration_changed',
        `Migration ${migration.name} is not the one that was applied to this database.`,
        { details: { migration: migration.name } },
      );
    }
  }
}

async function applyFunctions(
  tx: AnyTransaction,
  { functions, edition }: SchemaFiles,
  storeId: string,
): Promise<void> {
  // A function may call one of a later file; PostgreSQL would otherwise look for it at once.
  await tx.query('set local check_function_bodies = off');
  for (const { name, sql } of functions) await run(tx, { name, sql: withRoleNames(sql, storeId) });
  await record(tx, FUNCTIONS, 'functions', digestFunctions(functions), edition);
}

async function run(tx: AnyTransaction, { name, sql }: SqlFile): Promise<void> {
  try {
    await tx.query(sql);
  } catch (cause) {
    throw new DialecticError('migration_failed', `${name}: ${messageOf(cause)}`, {
      cause,
      details: { migration: name },
    });
  }
}

const record = (tx: AnyTransaction, version: number, name: string, digest: string, edition = 0) =>
  tx.query(
    `insert into schema_migrations (version, name, digest, edition) values ($1, $2, $3, $4)
     on conflict (version) do update set digest = excluded.digest, edition = excluded.edition,
       applied_at = excluded.applied_at`,
    [version, name, digest, edition],
  );
