import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Scope } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../src/db/tenants.ts';
import type { AnyTransaction } from '../src/db/transaction.ts';
import { newId } from '../src/platform/ids.ts';
import { startPostgres } from '../test/postgres-server.ts';
import { type Benchmark, type Measurement, ratePerSecond } from './frame.ts';

const SECONDS = 3;
const INSERT = `insert into notices (tenant_id, id, severity, code, message, topic)
  values ($1, $2, 'info', 'x', 'a message of some length', 't')`;

/** An insert, an update and a read of the same row, in one transaction. */
async function threeStatements(tx: AnyTransaction): Promise<void> {
  const key = [LOCAL_TENANT, newId()];
  await tx.query(INSERT, key);
  await tx.query('update notices set dismissed_at = now() where tenant_id = $1 and id = $2', key);
  await tx.query('select message from notices where tenant_id = $1 and id = $2', key);
}

/** Alternates the two, so that whatever else the machine does hits both alike. */
async function medianMs(first: () => Promise<unknown>, second: () => Promise<unknown>) {
  const times: [number[], number[]] = [[], []];
  const end = performance.now() + SECONDS * 1000;
  for (let turn = 0; performance.now() < end; turn++) {
    const started = performance.now();
    await (turn % 2 === 0 ? first() : second());
    times[turn % 2]!.push(performance.now() - started);
  }
  return times.map((list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!);
}

async function measure(subject: string, database: Database): Promise<Measurement[]> {
  await ensureLocalTenant(database);
  const tenant: Scope = { as: 'tenant', tenantId: LOCAL_TENANT };
  const held = await database.driver.acquire();
  const inserts = await ratePerSecond(SECONDS, () =>
    held.client.query(INSERT, [LOCAL_TENANT, newId()]),
  );
  held.release();
  const inScope = (scope: Scope) => () => database.transaction(scope, threeStatements);
  const transactions = await ratePerSecond(SECONDS, inScope(tenant));
  const [bare, scoped] = await medianMs(inScope({ as: 'owner' }), inScope(tenant));
  const metric = '3-statement transaction, median';
  return [
    { metric: 'single inserts', subject, value: inserts, unit: '/s' },
    { metric: '3-statement transactions of a tenant', subject, value: transactions, unit: '/s' },
    { metric: `${metric} without tenancy`, subject, value: bare!, unit: 'ms' },
    { metric: `${metric} of a tenant`, subject, value: scoped!, unit: 'ms' },
    { metric: 'cost of tenancy a transaction', subject, value: scoped! - bare!, unit: 'ms' },
  ];
}

const TICKS = '10 ms ticks in 2 s';

/** How often a timer fires while something is done again and again: heartbeats live by it. */
async function countTicks(work: () => Promise<unknown>): Promise<number> {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const end = performance.now() + 2_000;
  while (performance.now() < end) await work();
  clearInterval(timer);
  return ticks;
}

async function measureTicks(database: Database): Promise<Measurement[]> {
  const query = () => database.asTenant(LOCAL_TENANT, (tx) => tx.query('select 1'));
  const idle = await countTicks(() => sleep(2_000));
  const busy = await countTicks(query);
  return [
    { metric: TICKS, subject: 'an idle process', value: idle, unit: '' },
    { metric: TICKS, subject: 'embedded, queries in a tight loop', value: busy, unit: '' },
  ];
}

/** One client at a time: what a single caller waits for, commits synced to disk on both. */
async function run() {
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-bench-'));
  const server = await startPostgres();
  const embedded = await openDatabase({ dataDirectory: folder }, { backupEveryMs: 0 });
  const served = await openDatabase({ databaseUrl: await server.createDatabase('bench') });
  const results = [
    ...(await measure('embedded', embedded)),
    ...(await measureTicks(embedded)),
    ...(await measure('PostgreSQL', served)),
  ];
  await embedded.close();
  await served.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  const value = (metric: string, subject: string): number =>
    results.find((result) => result.metric === metric && result.subject === subject)!.value;
  const compare = (metric: string): number =>
    value(metric, 'embedded') / value(metric, 'PostgreSQL');
  const tenancy = (subject: string): number =>
    value('3-statement transaction, median of a tenant', subject) /
    value('3-statement transaction, median without tenancy', subject);
  return {
    results,
    ratios: {
      inserts_embedded_vs_postgres: compare('single inserts'),
      transactions_embedded_vs_postgres: compare('3-statement transactions of a tenant'),
      ticks_busy_vs_idle:
        value(TICKS, 'embedded, queries in a tight loop') / value(TICKS, 'an idle process'),
      tenant_vs_bare_embedded: tenancy('embedded'),
      tenant_vs_bare_postgres: tenancy('PostgreSQL'),
    },
  };
}

export default { title: 'Store: embedded PGlite beside PostgreSQL', run } satisfies Benchmark;
