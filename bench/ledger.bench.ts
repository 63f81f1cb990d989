import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../src/db/database.ts';
import { openDatabase } from '../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../src/db/tenants.ts';
import { newId } from '../src/platform/ids.ts';
import { readBalances } from '../src/wallet/balances.ts';
import { holdFunds, postCall } from '../src/wallet/holds.ts';
import { grantFunds } from '../src/wallet/ledger.ts';
import { startPostgres } from '../test/postgres-server.ts';
import type { Benchmark, Measurement } from './frame.ts';

const SECONDS = 8;
const SIZES = { few: 10_000, many: 1_000_000 };
const tenantId = LOCAL_TENANT;
const TABLES = ['postings', 'entries', 'accounts', 'holds'];

/** One call as generation pays for it: the worst case held, the cost posted, the rest released. */
async function pay(database: Database): Promise<void> {
  const key = { callId: newId(), purpose: 'generation' };
  const worst = { usdMicros: 900, tokens: 900, inputUsdMicros: 100, inputTokens: 100 };
  await database.asTenant(tenantId, async (tx) => {
    await holdFunds(tx, { ...key, ...worst, sessionId: null, provider: 'x' });
    const details = { model: 'x/m', price: { input: 1, output: 2 } };
    await postCall(tx, key, { usdMicros: 500, tokens: 400, estimated: false, details });
  });
}

const look = (database: Database): Promise<unknown> =>
  database.asTenant(tenantId, (tx) => readBalances(tx));

/** A ledger that has seen that many postings; rows are made in bulk, as they would have been. */
async function openLedger(database: Database, postings: number): Promise<Database> {
  await ensureLocalTenant(database);
  await database.asTenant(tenantId, (tx) =>
    grantFunds(tx, { key: 'g', currency: 'USD', amount: 1e14 }),
  );
  await pay(database);
  await database.transaction({ as: 'owner' }, async (tx) => {
    for (const table of TABLES) await tx.query(`alter table ${table} disable trigger all`);
    for (let from = 0; from < postings; from += 100_000)
      await fill(tx, Math.min(100_000, postings));
    for (const table of TABLES) await tx.query(`alter table ${table} enable trigger all`);
  });
  await database.transaction({ as: 'owner' }, (tx) => tx.query('analyze'));
  return database;
}

async function fill(tx: Parameters<Parameters<Database['transaction']>[1]>[0], count: number) {
  await tx.query(
    `with made as (
       insert into postings (tenant_id, key, kind, content, call_id, details)
       select '${tenantId}', gen_random_uuid() || '/generation', 'call', '500/400/f',
         gen_random_uuid(), '{"model": "x/m", "price": {"input": 1, "output": 2}}'
       from generate_series(1, ${count}) returning id, call_id
     ), held as (
       insert into holds (tenant_id, call_id, purpose, provider, status, usd, tokens,
         usd_account_id, token_account_id)
       select '${tenantId}', m.call_id, 'generation', 'x', 'posted', 900, 900, u.id, t.id
       from made m, accounts u, accounts t
       where u.kind = 'user' and u.currency = 'USD' and t.kind = 'user' and t.currency = 'token'
     ), sides as (
       select m.id, a.id as account_id, a.balance, a.entry_count,
         case a.kind when 'user' then -500 else 500 end as amount,
         row_number() over (partition by a.id order by m.id) as nth
       from made m, accounts a where a.kind in ('user', 'provider') and a.currency = 'USD'
     )
     insert into entries (tenant_id, posting_id, account_id, currency, amount, seq, balance)
     select '${tenantId}', id, account_id, 'USD', amount, entry_count + nth, balance + amount * nth
     from sides`,
  );
  await tx.query(
    `update accounts a set entry_count = e.seq, balance = e.balance
     from (select distinct on (account_id) account_id, seq, balance from entries
       order by account_id, seq desc) as e where e.account_id = a.id`,
  );
}

/** Alternates the two, so that whatever else the machine does hits both alike. */
async function medianMs(
  few: Database,
  many: Database,
  act: (database: Database) => Promise<unknown>,
) {
  const times: [number[], number[]] = [[], []];
  const end = performance.now() + SECONDS * 1000;
  for (let turn = 0; performance.now() < end; turn++) {
    const started = performance.now();
    await act(turn % 2 === 0 ? few : many);
    if (turn >= 20) times[turn % 2]!.push(performance.now() - started);
  }
  return times.map((list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!);
}

async function measure(subject: string, few: Database, many: Database): Promise<Measurement[]> {
  await openLedger(few, SIZES.few);
  await openLedger(many, SIZES.many);
  const [postFew, postMany] = await medianMs(few, many, pay);
  const [readFew, readMany] = await medianMs(few, many, look);
  await few.close();
  await many.close();
  const line = (metric: string, value: number): Measurement => ({
    metric,
    subject,
    value,
    unit: 'ms',
  });
  return [
    line('hold and posting after 10⁴, median', postFew!),
    line('hold and posting after 10⁶, median', postMany!),
    line('balance after 10⁴, median', readFew!),
    line('balance after 10⁶, median', readMany!),
  ];
}

async function run() {
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-bench-'));
  const server = await startPostgres();
  const embedded = (name: string) =>
    openDatabase({ dataDirectory: join(folder, name) }, { backupEveryMs: 0 });
  const served = async (name: string) =>
    openDatabase({ databaseUrl: await server.createDatabase(name) });
  const results = [
    ...(await measure('embedded', await embedded('few'), await embedded('many'))),
    ...(await measure('PostgreSQL', await served('few'), await served('many'))),
  ];
  await server.stop();
  await rm(folder, { recursive: true, force: true });
  const value = (metric: string, subject: string): number =>
    results.find((one) => one.metric.startsWith(metric) && one.subject === subject)!.value;
  const grown = (what: string, subject: string): number =>
    value(`${what} after 10⁶`, subject) / value(`${what} after 10⁴`, subject);
  return {
    results,
    ratios: {
      posting_1e6_vs_1e4: grown('hold and posting', 'embedded'),
      posting_1e6_vs_1e4_postgres: grown('hold and posting', 'PostgreSQL'),
      balance_1e6_vs_1e4: grown('balance', 'embedded'),
    },
  };
}

export default { title: 'Ledger: a million postings', run } satisfies Benchmark;
