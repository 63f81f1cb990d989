import { randomUUID } from 'node:crypto';
import type { AnyTransaction } from '../../src/db/transaction.ts';

type Column = {
  table_name: string;
  column_name: string;
  type: string;
  skip: boolean;
  /** The table and column that a foreign key other than the tenant's points to. */
  references: string | null;
};

/** Values for columns that a check constraint limits. */
const ALLOWED: Record<string, string> = {
  'notices.severity': 'info',
  'lane_steps.state': 'running',
  'jobs.job_type': 'EXECUTE',
  'documents.kind': 'document',
  'model_calls.purpose': 'document',
  'accounts.kind': 'user',
  'accounts.currency': 'USD',
  'postings.kind': 'grant',
  'entries.amount': '0', // whatever else a posting has must sum to zero
  'entries.seq': '1', // the first of its account
  'entries.balance': '0',
  'budgets.scope': 'tenant',
  'budgets.currency': 'USD',
  'source_uses.kind': 'section',
  'memory_vectors.dimensions': '2', // as many as the numbers below
};

/** References that a trigger holds instead of a foreign key. */
const HELD_BY_TRIGGER: Record<string, string> = {
  'jobs.chain_id': 'jobs.id',
  'jobs.session_id': 'sessions.id',
};

const BY_TYPE: Record<string, () => unknown> = {
  uuid: () => randomUUID(),
  text: () => `text ${randomUUID()}`,
  bytea: () => Buffer.from(randomUUID()),
  boolean: () => false,
  integer: () => 1,
  bigint: () => 1,
  jsonb: () => '{}',
  json: () => '{}',
  'timestamp with time zone': () => new Date(),
  'double precision': () => 0.5,
  'text[]': () => ['a'],
  'real[]': () => [0.5, 0.5],
  tsvector: () => 'a',
  'uuid[]': () => [],
};

/** The tenant tables in an order in which foreign keys find their rows. */
export async function tenantTables(tx: AnyTransaction): Promise<string[]> {
  const rows = await tx.query<{ name: string; needs: string[] }>(
    `select c.relname as name, array(
       select k.confrelid::regclass::text from pg_constraint k
       where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as needs
     from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and relname not in ('schema_migrations', 'store_epoch', 'store_identity') and not relispartition
     order by relname`,
  );
  const ordered: string[] = [];
  while (ordered.length < rows.length) {
    const next = rows.find(
      ({ name, needs }) => !ordered.includes(name) && needs.every((need) => ordered.includes(need)),
    );
    if (!next) throw new Error('foreign keys form a circle');
    ordered.push(next.name);
  }
  return ordered;
}

/** Inserts one row of a tenant into every table, made up from the catalog alone. */
export async function insertSampleRows(tx: AnyTransaction, tenantId: string): Promise<void> {
  const made = new Map<string, unknown>();
  for (const table of await tenantTables(tx)) {
    const row = await sampleRow(tx, table, tenantId, made);
    // What the database gave the row itself, an id for example, is what others refer to.
    const stored = await insertRow(tx, table, row);
    for (const [column, value] of Object.entries(stored)) made.set(`${table}.${column}`, value);
  }
}

/** A row that the table's constraints accept for this tenant. */
export async function sampleRow(
  tx: AnyTransaction,
  table: string,
  tenantId: string,
  made: Map<string, unknown> = new Map(),
): Promise<Record<string, unknown>> {
  const columns = await tx.query<Column>(
    `select c.relname as table_name, a.attname as column_name,
       format_type(a.atttypid, null) as type,
       a.attidentity <> '' or a.attgenerated <> '' or a.atthasdef or not a.attnotnull as skip,
       (select k.confrelid::regclass::text || '.' || f.attname
        from pg_constraint k, unnest(k.conkey, k.confkey) as pair (own, other)
        join pg_attribute f on f.attnum = pair.other
        where k.conrelid = c.oid and k.contype = 'f' and f.attrelid = k.confrelid
          and pair.own = a.attnum and a.attname <> 'tenant_id'
        -- Keys into the table itself last: their row may not be there yet.
        order by k.confrelid = c.oid, k.conname limit 1) as references
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relname = $1 and c.relnamespace = 'public'::regnamespace and a.attnum > 0
       and not a.attisdropped`,
    [table],
  );
  const row: Record<string, unknown> = {};
  for (const column of columns) {
    if (column.column_name === 'tenant_id') row['tenant_id'] = tenantId;
    else if (!column.skip) row[column.column_name] = sampleValue(column, made);
    made.set(`${table}.${column.column_name}`, row[column.column_name]); // for keys into itself
  }
  return row;
}

function sampleValue(column: Column, made: ReadonlyMap<string, unknown>): unknown {
  const name = `${column.table_name}.${column.column_name}`;
  const references = column.references ?? HELD_BY_TRIGGER[name];
  if (references && made.has(references)) return made.get(references);
  const allowed = ALLOWED[name];
  if (allowed !== undefined) return allowed;
  const make = BY_TYPE[column.type];
  if (!make) throw new Error(`no sample value for ${name}`);
  return make();
}

export async function insertRow(
  tx: AnyTransaction,
  table: string,
  row: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const columns = Object.keys(row);
  const marks = columns.map((_, index) => `$${index + 1}`);
  const [stored] = await tx.query<Record<string, unknown>>(
    `insert into ${table} (${columns.join(', ')}) values (${marks.join(', ')}) returning *`,
    Object.values(row),
  );
  return stored!;
}
