import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DialecticError } from '../platform/errors.ts';
import type { Database, Transaction } from './database.ts';

export type Migration = { readonly version: number; readonly name: string; readonly sql: string };

const folder = new URL('./migrations/', import.meta.url);
/** One number for the whole cluster, so that two processes never migrate one database at once. */
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
  return database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    const applied = await readApplied(tx);
    checkApplied(applied, migrations);
    for (const migration of migrations.filter(({ version }) => !applied.has(version))) {
      await apply(tx, migration);
    }
    return migrations.length - applied.size;
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
