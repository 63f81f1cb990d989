import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
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
  await run((tx) =>
    tx.query(`select post_call($1, $2, 'generation', 3, 1000000000000000001, false, '{}')`, [
      tenantId,
      callId,
    ]),
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
