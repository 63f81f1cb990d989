import pg from 'pg';

/** What a finished session leaves behind; the postings of the ledger are not among it. */
const TABLES = [
  'projects',
  'sessions',
  'lanes',
  'stage_runs',
  'lane_steps',
  'jobs',
  'contributions',
  'documents',
  'model_calls',
  'call_parts',
  'holds',
  'events',
];
/** These are shared by the copies. */
const KEPT = ['tenant_id', 'usd_account_id', 'token_account_id'];

type Column = { name: string; type: string };

/**
 * Copies all sessions of a store so many times, each copy with a project and ids of its own. The ids
 * within payloads stay those of the first: nothing reads them of a session that is over.
 */
export async function addFinished(url: string, copies: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Neither triggers nor foreign keys: the rows are what a run has left, and none is new.
    await client.query("begin; set local session_replication_role = 'replica'");
    for (const table of TABLES) {
      const { rows } = await client.query<Column>(
        `select column_name as name, data_type as type from information_schema.columns
         where table_schema = 'public' and table_name = $1 and is_identity = 'NO'
           and is_generated = 'NEVER'`,
        [table],
      );
      const names = rows.map(({ name }) => `"${name}"`).join(', ');
      const values = rows.map((column) => copyOf(column)).join(', ');
      await client.query(
        `insert into ${table} (${names})
         select ${values} from ${table} t, generate_series(1, ${copies}) as n`,
      );
    }
    await client.query('commit');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

function copyOf({ name, type }: Column): string {
  if (type === 'uuid' && !KEPT.includes(name)) return `md5(t."${name}"::text || n)::uuid`;
  if (name === 'idempotency_key') return `n || '/' || t."${name}"`;
  if (name === 'topic') {
    return `'session/' || md5(split_part(t.topic, '/', 2) || n)::uuid`;
  }
  return `t."${name}"`;
}
