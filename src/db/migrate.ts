import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import type { AnyTransaction, Database } from './database.ts';
import {
  digestFunctions,
  digestOf,
  isSameMigration,
  type Migration,
  readSchemaFiles,
  type SchemaFiles,
  type SqlFile,
} from './schema-files.ts';

/** Advisory locks are of one database: two processes never migrate the same one at once. */
const ADVISORY_LOCK = 7_252_401;
/** The row of schema_migrations that records the functions; migrations are numbered from 1. */
const FUNCTIONS = 0;

/** Digests by version, as schema_migrations has them. */
type Applied = ReadonlyMap<number, string>;

/**
 * Brings the schema up to this code in one transaction, or leaves it alone: the migrations that are
 * missing, then all functions if one has changed. Returns the names of the files that it applied.
 */
export async function migrate(database: Database, files = readSchemaFiles()): Promise<string[]> {
  if (isCurrent(await readRecorded(database), files)) return [];
  const migrating = database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await createRecord(tx);
    const applied = await readApplied(tx);
    checkApplied(applied, files.migrations);
    if (isCurrent(applied, files)) return [];
    const missing = files.migrations.filter(({ version }) => !applied.has(version));
    for (const migration of missing) await applyMigration(tx, migration);
    await applyFunctions(tx, files.functions);
    return [...missing, ...files.functions].map(({ name }) => name);
  });
  return migrating.catch((error: unknown) => {
    throw explainMissingRights(error) ?? error;
  });
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Before there is a schema, a refusal means the account of DATABASE_URL and not a tenant. */
function explainMissingRights(error: unknown): DialecticError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) return undefined;
  return new DialecticError(
    'database_refused',
    `The account of DATABASE_URL may not set up the schema: ${messageOf(cause)}. It needs CREATE on ` +
      'the schema public, and CREATEROLE or the granted roles dialectic_app, dialectic_worker ' +
      'and dialectic_auth.',
    { cause: error },
  );
}

/** The newest migration that was applied; undefined where there is no schema of ours. */
export async function readSchemaVersion(database: Database): Promise<number | undefined> {
  const versions = [...(await readRecorded(database)).keys()];
  return versions.length === 0 ? undefined : Math.max(...versions);
}

const UNDEFINED_TABLE = '42P01';

/** What was applied, in one statement and without a lock; nothing where there is no schema. */
async function readRecorded(database: Database): Promise<Applied> {
  try {
    return await database.transaction({ as: 'owner' }, readApplied);
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return new Map();
    throw error;
  }
}

const createRecord = (tx: AnyTransaction) =>
  tx.query(
    `create table if not exists schema_migrations (
       version int primary key, name text not null, digest text not null,
       applied_at timestamptz not null default now())`,
  );

async function readApplied(tx: AnyTransaction): Promise<Applied> {
  const rows = await tx.query<{ version: number; digest: string }>(
    'select version, digest from schema_migrations',
  );
  return new Map(rows.map((row) => [row.version, row.digest]));
}

const isCurrent = (applied: Applied, { migrations, functions }: SchemaFiles): boolean =>
  applied.size === migrations.length + 1 &&
  applied.get(FUNCTIONS) === digestFunctions(functions) &&
  migrations.every((migration) => isSameMigration(migration, applied.get(migration.version) ?? ''));

function checkApplied(applied: Applied, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const [version, digest] of applied) {
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

async function applyMigration(tx: AnyTransaction, migration: Migration): Promise<void> {
  await run(tx, migration);
  await record(tx, migration.version, migration.name, digestOf(migration.sql));
}

async function applyFunctions(tx: AnyTransaction, functions: readonly SqlFile[]): Promise<void> {
  // A function may call one of a later file; PostgreSQL would otherwise look for it at once.
  await tx.query('set local check_function_bodies = off');
  for (const file of functions) await run(tx, file);
  await record(tx, FUNCTIONS, 'functions', digestFunctions(functions));
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

const record = (tx: AnyTransaction, version: number, name: string, digest: string) =>
  tx.query(
    `insert into schema_migrations (version, name, digest) values ($1, $2, $3)
     on conflict (version) do update set digest = excluded.digest, applied_at = excluded.applied_at`,
    [version, name, digest],
  );
