import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/platform/ids.ts';
import { GREATEST_AMOUNT } from '../../src/wallet/amounts.ts';
import { readBalances, readBudgets, readHistory } from '../../src/wallet/balances.ts';
import { holdFunds, postCall } from '../../src/wallet/holds.ts';
import { grantFunds, setBudget } from '../../src/wallet/ledger.ts';
import { reportCosts } from '../../src/wallet/report.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { startDebate } from './sessions.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestStore('embedded');
});

async function openWallet() {
  const { tenantId } = await newTenant(database);
  const run = <T>(work: (tx: Transaction) => Promise<T>) => database.asTenant(tenantId, work);
  return { tenantId, run };
}

/** Runs `work` with the functions of a release that did not check amounts. */
async function withoutCheck(work: () => Promise<unknown>): Promise<void> {
  const asOwner = (sql: string) => database.transaction({ as: 'owner' }, (tx) => tx.query(sql));
  await asOwner(`create or replace function check_amounts(what text, variadic amounts bigint[])
    returns void language sql immutable as 'select'`);
  await work();
  await asOwner('update schema_migrations set edition = 0 where version = 0');
  await migrate(database);
}

test('a wallet holds a billion dollars at most, however often something is granted', async () => {
  const { run } = await openWallet();
  const grant = (key: string, amount: number) =>
    run((tx) => grantFunds(tx, { key, currency: 'USD', amount }));
  await grant('a', GREATEST_AMOUNT - 1);
  await grant('b', 1);
  await expect(grant('c', 1)).rejects.toMatchObject({ code: 'amount_too_large' });
  await expect(grant('d', GREATEST_AMOUNT + 1)).rejects.toMatchObject({ code: 'amount_too_large' });
  await expect(grant('e', -1)).rejects.toMatchObject({ code: 'internal_error' });
  const [wallet] = await run((tx) => readBalances(tx));
  expect(wallet).toMatchObject({ kind: 'user', balance: GREATEST_AMOUNT });
});

test('a budget, a hold and a posting have the same greatest amount', async () => {
  const { tenantId, run } = await openWallet();
  const tooLarge = { code: 'amount_too_large' };
  const cap = { scope: 'tenant', ownerId: tenantId, currency: 'token' } as const;
  await expect(run((tx) => setBudget(tx, { ...cap, amount: 1e18 }))).rejects.toMatchObject(
    tooLarge,
  );
  const key = { callId: newId(), purpose: 'generation' };
  const worst = { usdMicros: 1, tokens: 1e18, inputUsdMicros: 0, inputTokens: 0 };
  const hold = { ...key, ...worst, sessionId: null, provider: 'p' };
  await expect(run((tx) => holdFunds(tx, hold))).rejects.toMatchObject(tooLarge);
  await run((tx) => holdFunds(tx, { ...hold, tokens: 1 }));
  const cost = { usdMicros: 1, tokens: 1e18, estimated: false, details: {} };
  await expect(run((tx) => postCall(tx, key, cost))).rejects.toMatchObject(tooLarge);
  const negative = { ...cost, tokens: -1 };
  await expect(run((tx) => postCall(tx, key, negative))).rejects.toThrow('is no amount');
});

test('the functions of the ledger refuse such amounts, whoever calls them', async () => {
  const { tenantId, run } = await openWallet();
  const callId = newId();
  await run((tx) =>
    tx.query(`select hold_funds($1, $2, 'x', null, 'p', 5, 5, 0, 0, false)`, [tenantId, callId]),
  );
  const posting = await run((tx) =>
    tx.queryOne<{ id: number }>(`select post_call($1, $2, 'x', 5, 5, false, '{}') as id`, [
      tenantId,
      callId,
    ]),
  );
  const statements = (amount: string): string[] => [
    `grant_funds('${tenantId}', 'g', null, 'USD', ${amount}, '{}')`,
    `set_budget('${tenantId}', 'tenant', '${tenantId}', 'USD', ${amount})`,
    `hold_funds('${tenantId}', '${newId()}', 'x', null, 'p', ${amount}, 0, 0, 0, false)`,
    `hold_funds('${tenantId}', '${newId()}', 'x', null, 'p', 0, ${amount}, 0, 0, false)`,
    `hold_funds('${tenantId}', '${newId()}', 'x', null, 'p', 0, 0, ${amount}, 0, false)`,
    `hold_funds('${tenantId}', '${newId()}', 'x', null, 'p', 0, 0, 0, ${amount}, false)`,
    ...['usd', 'tokens', 'in_usd', 'in_tokens'].map((wanted) => {
      const [usd, tokens, inUsd, inTokens] = ['usd', 'tokens', 'in_usd', 'in_tokens'].map(
        (name) => `array[${name === wanted ? amount : 0}]::bigint[]`,
      );
      return `hold_unlimited('${tenantId}', array['${newId()}']::uuid[], array['x'], null,
        array['p'], ${usd}, ${tokens}, ${inUsd}, ${inTokens}, array['{}']::jsonb[])`;
    }),
    `post_call('${tenantId}', '${callId}', 'x', ${amount}, 0, false, '{}')`,
    `post_call('${tenantId}', '${callId}', 'x', 0, ${amount}, false, '{}')`,
    `refund_call('${tenantId}', 'r', ${posting.id}, ${amount}, 0, '{}')`,
    `refund_call('${tenantId}', 'r', ${posting.id}, 0, ${amount}, '{}')`,
  ];
  const ask = (sql: string) => run((tx) => tx.query(`select ${sql}`));
  for (const amount of ['1000000000000001', '9223372036854775807']) {
    for (const sql of statements(amount)) {
      await expect(ask(sql), sql).rejects.toMatchObject({ code: 'amount_too_large' });
    }
  }
  for (const sql of statements('-1')) {
    await expect(ask(sql), sql).rejects.toThrow('is no amount');
  }
  await ask(`grant_funds('${tenantId}', 'g', null, 'USD', 1000000000000000, '{}')`);
  const more = ask(`grant_funds('${tenantId}', 'h', null, 'USD', 1, '{}')`);
  await expect(more).rejects.toMatchObject({ code: 'amount_too_large' });
});

test('a store that already has a row of 10^18 tokens can be read, and goes on', async () => {
  const { tenantId, run } = await openWallet();
  const { sessionId } = await startDebate(database, tenantId, 1);
  const callId = newId();
  const key = { callId, purpose: 'generation' };
  const worst = { usdMicros: 5, tokens: 5, inputUsdMicros: 0, inputTokens: 0 };
  const cap = { scope: 'tenant', ownerId: tenantId, currency: 'token' } as const;
  await run((tx) => setBudget(tx, { ...cap, amount: 1_000 }));
  await run((tx) => holdFunds(tx, { ...key, ...worst, sessionId, provider: 'p' }));
  // As a release before the check posted it.
  await withoutCheck(() =>
    run((tx) =>
      tx.query(`select post_call($1, $2, 'generation', 3, 1000000000000000001, false, '{}')`, [
        tenantId,
        callId,
      ]),
    ),
  );
  const balances = await run((tx) => readBalances(tx));
  expect(balances.map(({ balance }) => balance)).toContain(-1e18);
  expect(await run((tx) => readBudgets(tx))).toMatchObject([{ spent: 1e18 }]);
  expect(await run((tx) => readHistory(tx, 50))).toHaveLength(2);
  expect((await run((tx) => reportCosts(tx, sessionId))).entries).toHaveLength(4);
  const next = { ...key, callId: newId(), ...worst, sessionId, provider: 'p' };
  expect(await run((tx) => holdFunds(tx, next))).toMatchObject({ outcome: 'budget' });
  await run((tx) => setBudget(tx, { ...cap, amount: null }));
  expect(await run((tx) => holdFunds(tx, next))).toMatchObject({ outcome: 'held' });
});
