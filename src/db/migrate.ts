import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DialecticError } from '../errors/errors.ts';
import type { Database, Transaction } from './database.ts';

export type Migration = { readonly version: number; readonly name: string; readonly sql: string };

const folder = new URL('./migrations/', import.meta.url);
/** Advisory locks are of one database: two processes never migrate the same one at once. */
const ADVISORY_LOCK = 7_252_401;

/** The numbered files beside this one, in order. */
export function readMigrations(): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.toSorted().map((name) => ({
    version: Number(name.slice(0, 4)),
    name,
    sql: readFileSync(new URL(name, folder), 'utf8'),
  }));
}

const digest = (sql: string): string => createHash('sha256').update(sql).digest('hex');

/** Brings the schema up to this code: all missing migrations in one transaction, or none. */
export async function migrate(database: Database, migrations = readMigrations()): Promise<number> {
  const migrating = database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    const applied = await readApplied(tx);
    checkApplied(applied, migrations);
    for (const migration of migrations.filter(({ version }) => !applied.has(version))) {
      await apply(tx, migration);
    }
    return migrations.length - applied.size;
  });
  return migrating.catch((error: unknown) => {
    throw explainMissingRights(error) ?? error;
  });
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Before there is a schema, a refusal means the account of DATABASE_URL and not a tenant. */
function explainMissingRights(error: unknown): DialecticError | undefined {
  const cause = (error as { cause?: { code?: string; message: string } }).cause;
  if (cause?.code !== INSUFFICIENT_PRIVILEGE) return undefined;
  return new DialecticError(
    'database_refused',
    `The account of DATABASE_URL may not set up the schema: ${cause.message}. It needs CREATE on ` +
      'the schema public, and CREATEROLE or the granted roles dialectic_app, dialectic_worker ' +
      'and dialectic_auth.',
    { cause: error },
  );
}

/** The newest migration that was applied; undefined where there is no schema of ours. */
export async function readSchemaVersion(database: Database): Promise<number | undefined> {
  return database.transaction({ as: 'owner' }, async (tx) => {
    const [table] = await tx.query<{ found: boolean }>(
      `select to_regclass('public.schema_migrations') is not null as found`,
    );
    if (!table!.found) return undefined;
    const [row] = await tx.query<{ version: number | null }>(
      'select max(version) as version from schema_migrations',
    );
    return row!.version ?? undefined;
  });
}

async function readApplied(tx: Transaction): Promise<Map<number, string>> {
  await tx.query(
    `create table if not exists schema_migrations (
       version int primary key, name text not null, digest text not null,
       applied_at timestamptz not null default now())`,
  );
  const rows = await tx.query<{ version: number; digest: string }>(
    'select version, digest from schema_migrations',
  );
  return new Map(rows.map((row) => [row.version, row.digest]));
}

function checkApplied(applied: Map<number, string>, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const [version, appliedDigest] of applied) {
    if (version > newest) {
      throw new DialecticError(
        'schema_newer',
        `The database has schema ${version}; this version of Dialectic knows ${newest}.`,
        { details: { found: version, known: newest } },
      );
    }
    const migration = migrations.find((candidate) => candidate.version === version);
    if (migration && digest(migration.sql) !== appliedDigest) {
      throw new DialecticError(
        'migration_changed',
        `Migration ${migration.name} is not the one that was applied to this database.`,
        { details: { migration: migration.name } },
      );
    }
  }
}

async function apply(tx: Transaction, { version, name, sql }: Migration): Promise<void> {
  try {
    await tx.query(sql);
    await tx.query('insert into schema_migrations (version, name, digest) values ($1, $2, $3)', [
      version,
      name,
      digest(sql),
    ]);
  } catch (cause) {
    throw new DialecticError('migration_failed', `${name}: ${(cause as Error).message}`, {
      cause,
      details: { migration: name },
    });
  }
}
