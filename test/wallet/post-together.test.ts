import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/platform/ids.ts';
import { holdFunds, postCall, postWithOthers } from '../../src/wallet/holds.ts';
import { grantFunds, setBudget } from '../../src/wallet/ledger.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const amount = fc.integer({ min: 0, max: 40 });
const calls = fc.array(
  fc.record({
    provider: fc.constantFrom('x', 'y'),
    held: fc.record({ usdMicros: amount, tokens: amount }),
    // Worst cases are exceeded now and then.
    cost: fc.record({ usdMicros: amount, tokens: amount }),
  }),
  { minLength: 1, maxLength: 8 },
);
const wallet = fc.record({
  usd: fc.option(fc.integer({ min: 0, max: 60 })),
  tokens: fc.option(fc.integer({ min: 0, max: 60 })),
  budget: fc.option(fc.constant(10_000)),
});
type Calls = typeof calls extends fc.Arbitrary<infer T> ? T : never;
type Wallet = typeof wallet extends fc.Arbitrary<infer T> ? T : never;

const inputs = { inputUsdMicros: 0, inputTokens: 0 };
const key = (callId: string) => ({ callId, purpose: 'generation' });
const costOf = (cost: Calls[number]['cost']) => ({ ...cost, estimated: false, details: {} });

describeOnBoth('calls that are posted together', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  /** A tenant with open holds; those that the wallet cannot bear are left out. */
  async function holdAll(wanted: Calls, { usd, tokens, budget }: Wallet) {
    const { tenantId } = await newTenant(database);
    const run = <T>(work: (tx: Transaction) => Promise<T>) => database.asTenant(tenantId, work);
    const held = await run(async (tx) => {
      if (usd !== null) await grantFunds(tx, { key: 'u', currency: 'USD', amount: usd + 1 });
      if (tokens !== null)
        await grantFunds(tx, { key: 't', currency: 'token', amount: tokens + 1 });
      const cap = { scope: 'tenant', ownerId: tenantId, currency: 'USD', amount: budget } as const;
      if (budget !== null) await setBudget(tx, cap);
      const open: { callId: string; cost: Calls[number]['cost'] }[] = [];
      for (const { provider, held: most, cost } of wanted) {
        const callId = newId();
        const place = { ...key(callId), ...inputs, sessionId: null, provider };
        const { outcome } = await holdFunds(tx, { ...place, ...most });
        if (outcome === 'held') open.push({ callId, cost });
      }
      return open;
    });
    return { run, held };
  }

  const readLedger = (tx: Transaction) =>
    tx.query(`select a.kind, a.owner, a.currency, a.balance, a.held, a.entry_count,
        coalesce(jsonb_agg(jsonb_build_array(e.seq, e.amount, e.balance,
          (select count(*) from postings q where q.id <= e.posting_id), p.content) order by e.seq)
          filter (where e.seq is not null), '[]') as entries,
        (select jsonb_agg(jsonb_build_array(b.spent, b.held)) from budgets b) as budgets,
        (select array_agg(h.status order by h.call_id) from holds h) as holds
      from accounts a left join entries e on e.account_id = a.id
      left join postings p on p.id = e.posting_id
      group by a.tenant_id, a.id order by a.kind, a.owner, a.currency`);

  test('leave the same entries and balances as one behind the other', async () => {
    const same = fc.asyncProperty(calls, wallet, async (wanted, limits) => {
      const alone = await holdAll(wanted, limits);
      const group = await holdAll(wanted, limits);
      for (const { callId, cost } of alone.held) {
        await alone.run((tx) => postCall(tx, key(callId), costOf(cost)));
      }
      await group.run((tx) =>
        Promise.all(group.held.map((one) => postWithOthers(tx, key(one.callId), costOf(one.cost)))),
      );
      expect(await group.run(readLedger)).toEqual(await alone.run(readLedger));
    });
    await fc.assert(same, { numRuns: 40, seed: Number(process.env['SEED'] ?? 1) });
  });

  const two: Calls = [10, 20].map((usdMicros) => ({
    provider: 'x',
    held: { usdMicros: 30, tokens: 30 },
    cost: { usdMicros, tokens: 5 },
  }));
  const unlimited = { usd: null, tokens: null, budget: null };

  test('have each its own place and balance with the provider that they share', async () => {
    const { run, held } = await holdAll(two, unlimited);
    await run((tx) =>
      Promise.all(held.map(({ callId, cost }) => postWithOthers(tx, key(callId), costOf(cost)))),
    );
    const entries = await run((tx) =>
      tx.query(`select e.seq, e.amount, e.balance from entries e join accounts a on a.id = e.account_id
        where a.kind = 'provider' and a.currency = 'USD' order by e.seq`),
    );
    expect(entries).toEqual([
      { seq: 1, amount: 10, balance: 10 },
      { seq: 2, amount: 20, balance: 30 },
    ]);
  });

  test('count once where one was posted before, and are refused where it cost something else', async () => {
    const { run, held } = await holdAll(two, { ...unlimited, usd: 100 });
    const [first, second] = held as [(typeof held)[0], (typeof held)[0]];
    await run((tx) => postCall(tx, key(first.callId), costOf(first.cost)));
    const postBoth = (usdMicros: number) =>
      run((tx) =>
        Promise.all([
          postWithOthers(tx, key(second.callId), costOf(second.cost)),
          postWithOthers(tx, key(first.callId), costOf({ ...first.cost, usdMicros })),
          postWithOthers(tx, key(second.callId), costOf(second.cost)),
        ]),
      );
    const balance = () =>
      run((tx) =>
        tx.query(`select balance, held from accounts where kind = 'user' and currency = 'USD'`),
      );
    await expect(postBoth(11)).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    expect(await balance()).toEqual([{ balance: 91, held: 30 }]);
    await postBoth(10);
    expect(await balance()).toEqual([{ balance: 71, held: 0 }]);
    const unknown = run((tx) => postWithOthers(tx, key(newId()), costOf(first.cost)));
    await expect(unknown).rejects.toMatchObject({ code: 'hold_missing' });
  });
});
