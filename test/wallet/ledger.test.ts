import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { AnyTransaction, Transaction } from '../../src/db/transaction.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { failCall } from '../../src/handlers/end-call.ts';
import { addGate, cancelSession, removeGate } from '../../src/jobs/sessions.ts';
import type { Job } from '../../src/jobs/types.ts';
import type { ModelPrice } from '../../src/models/prices.ts';
import { newId } from '../../src/platform/ids.ts';
import { readBalances, readBudgets } from '../../src/wallet/balances.ts';
import { holdFunds, postCall, settleLeftHolds, voidHold } from '../../src/wallet/holds.ts';
import { grantFunds, refundCall, removeLimit, setBudget } from '../../src/wallet/ledger.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { startDebate } from './sessions.ts';

const RATES = { input: 0, cachedInput: 0, cacheWrite: 0, output: 10 };
const PRICE: ModelPrice = { source: 'configuration', rates: RATES, steps: [] };
const DETAILS = { model: 'x/m', price: null };

describeOnBoth('the ledger', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  async function newLedger() {
    const { tenantId } = await newTenant(database);
    const run = <T>(act: (tx: Transaction) => Promise<T>) => database.asTenant(tenantId, act);
    const key = (callId: string) => ({ callId, purpose: 'generation' });
    return {
      tenantId,
      run,
      hold: (callId: string, usdMicros: number, sessionId: string | null = null) =>
        run((tx) =>
          holdFunds(tx, {
            ...key(callId),
            sessionId,
            provider: 'x',
            usdMicros,
            tokens: 10,
            inputUsdMicros: 0,
            inputTokens: 0,
            price: PRICE,
          }),
        ),
      post: (callId: string, usdMicros: number) =>
        run((tx) =>
          postCall(tx, key(callId), { usdMicros, tokens: 7, estimated: false, details: DETAILS }),
        ),
      void: (callId: string) => run((tx) => voidHold(tx, key(callId))),
      grant: (amount: number, name = 'g', projectId: string | null = null) =>
        run((tx) => grantFunds(tx, { key: name, currency: 'USD', amount, projectId })),
      wallet: async (kindOf = 'user') =>
        (await run((tx) => readBalances(tx))).find(
          (account) => account.kind === kindOf && account.currency === 'USD',
        )!,
    };
  }

  test('keeps what was posted from everybody, its owner included', async () => {
    const ledger = await newLedger();
    await ledger.grant(100);
    for (const table of ['postings', 'entries']) {
      for (const act of [
        `update ${table} set tenant_id = tenant_id`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
      ]) {
        const asOwner = database.transaction({ as: 'owner' }, (tx) => tx.query(act));
        await expect(asOwner, act).rejects.toMatchObject({ code: 'ledger_append_only' });
        await expect(
          ledger.run((tx) => tx.query(act)),
          act,
        ).rejects.toThrow();
      }
    }
  });

  test('refuses a balance that no entry moved, and entries that do not sum to zero', async () => {
    const ledger = await newLedger();
    await ledger.grant(100);
    // Not even who owns the tables can: a tenant is refused before.
    const asOwner = (work: (tx: AnyTransaction) => Promise<unknown>) =>
      database.transaction({ as: 'owner' }, work);
    const richer = asOwner((tx) => tx.query('update accounts set balance = balance + 1'));
    await expect(richer).rejects.toMatchObject({ code: 'ledger_append_only' });
    const enter = (kinds: readonly string[], { off = 0, skip = 0 }) =>
      asOwner((tx) =>
        tx.query(
          `insert into entries (tenant_id, posting_id, account_id, currency, amount, seq, balance)
           select p.tenant_id, p.id, a.id, 'USD', k.amount, a.entry_count + 1 + $3,
             a.balance + k.amount + $4
           from postings p join accounts a on a.tenant_id = p.tenant_id and a.currency = 'USD'
           join (values ('user', 5), ('platform', -5)) as k (kind, amount) on k.kind = a.kind
           where p.tenant_id = $1 and a.kind = any ($2)`,
          [ledger.tenantId, kinds, skip, off],
        ),
      );
    const wrong = { code: 'ledger_unbalanced' };
    const both = ['user', 'platform'];
    await expect(enter(['user'], {})).rejects.toMatchObject(wrong);
    await expect(enter(both, { off: 1 })).rejects.toMatchObject(wrong);
    await expect(enter(both, { skip: 1 })).rejects.toMatchObject(wrong);
    expect((await ledger.wallet()).balance).toBe(100);
    await enter(both, {});
    expect((await ledger.wallet()).balance).toBe(105);
  });

  test('gives the first result again, and refuses other content under the same key', async () => {
    const ledger = await newLedger();
    const call = newId();
    const first = await ledger.grant(100);
    expect(await ledger.grant(100)).toBe(first);
    const other = { code: 'idempotency_mismatch', httpStatus: 409 };
    await expect(ledger.grant(101)).rejects.toMatchObject(other);
    expect((await ledger.hold(call, 40)).outcome).toBe('held');
    expect((await ledger.hold(call, 40)).outcome).toBe('held');
    await expect(ledger.hold(call, 41)).rejects.toMatchObject(other);
    const posting = await ledger.post(call, 30);
    expect(await ledger.post(call, 30)).toBe(posting);
    await expect(ledger.post(call, 31)).rejects.toMatchObject(other);
    await expect(ledger.void(call)).rejects.toMatchObject({ code: 'hold_closed' });
    expect(await ledger.wallet()).toMatchObject({ balance: 70, held: 0 });
  });

  test('never spends more than there is when fifty calls come at once', async () => {
    const ledger = await newLedger();
    await ledger.grant(1_000);
    const calls = Array.from({ length: 50 }, newId);
    const held = await Promise.all(calls.map((call) => ledger.hold(call, 30)));
    const through = calls.filter((_, n) => held[n]!.outcome === 'held');
    expect(through.length).toBe(33);
    await Promise.all(through.map((call) => ledger.post(call, 25)));
    expect(await ledger.wallet()).toMatchObject({ balance: 1_000 - 33 * 25, held: 0 });
  });

  test('lets the platform bear what the worst case did not foresee', async () => {
    const ledger = await newLedger();
    await ledger.grant(100);
    const call = newId();
    await ledger.hold(call, 90);
    await ledger.post(call, 130);
    expect((await ledger.wallet()).balance).toBe(0);
    expect((await ledger.wallet('provider')).balance).toBe(130);
    expect((await ledger.wallet('platform')).balance).toBe(-130);
  });

  test('settles what was spent before the first grant, so that the grant is what is there', async () => {
    const ledger = await newLedger();
    const call = newId();
    await ledger.hold(call, 90);
    await ledger.post(call, 70);
    expect(await ledger.wallet()).toMatchObject({ balance: -70, unlimited: true });
    await ledger.grant(50);
    expect(await ledger.wallet()).toMatchObject({ balance: 50, unlimited: false });
    await ledger.run((tx) => removeLimit(tx, 'USD'));
    expect((await ledger.hold(newId(), 1_000_000)).outcome).toBe('held');
  });

  test('keeps what was left when a limit was taken away', async () => {
    const ledger = await newLedger();
    await ledger.grant(100, 'first');
    await ledger.run((tx) => removeLimit(tx, 'USD'));
    await ledger.grant(10, 'second');
    expect(await ledger.wallet()).toMatchObject({ balance: 110, unlimited: false });
  });

  test('takes the limit off one project alone', async () => {
    const ledger = await newLedger();
    const { projectId } = await startDebate(database, ledger.tenantId, 1);
    await ledger.grant(100);
    await ledger.run((tx) => removeLimit(tx, 'USD', projectId));
    expect(await ledger.wallet('project')).toMatchObject({ owner: projectId, unlimited: true });
    expect(await ledger.wallet()).toMatchObject({ balance: 100, unlimited: false });
  });

  test('gives back no more than was paid', async () => {
    const ledger = await newLedger();
    const call = newId();
    await ledger.hold(call, 90);
    const postingId = await ledger.post(call, 70);
    const refund = (key: string, usdMicros: number) =>
      ledger.run((tx) => refundCall(tx, { key, postingId, usdMicros, tokens: 0 }));
    await refund('a', 50);
    await expect(refund('b', 21)).rejects.toMatchObject({ code: 'refund_too_large' });
    await refund('c', 20);
    expect((await ledger.wallet()).balance).toBe(0);
  });

  test('takes a project’s own wallet first, and counts the past in a new budget', async () => {
    const ledger = await newLedger();
    const { tenantId } = ledger;
    const { sessionId, projectId } = await startDebate(database, tenantId, 1);
    await ledger.grant(100, 'p', projectId);
    const [first, second] = [newId(), newId()];
    await ledger.hold(first, 80, sessionId);
    await ledger.post(first, 60);
    await ledger.hold(second, 30, sessionId);
    expect(await ledger.wallet('project')).toMatchObject({ balance: 40, held: 30 });
    expect((await ledger.hold(newId(), 30, sessionId)).outcome).toBe('wait');
    const budget = { scope: 'project' as const, ownerId: projectId, amount: 95 };
    await ledger.run((tx) => setBudget(tx, { ...budget, currency: 'USD' }));
    const [state] = await ledger.run((tx) => readBudgets(tx));
    expect(state).toMatchObject({ amount: 95, spent: 60, held: 30 });
    await ledger.void(second);
    expect((await ledger.hold(newId(), 36, sessionId)).outcome).toBe('budget');
  });

  /** Calls of a session's first job as a dead process leaves them; of the first, text was saved. */
  async function leaveCalls(
    { tenantId, run }: Awaited<ReturnType<typeof newLedger>>,
    sessionId: string,
    calls: readonly string[],
  ) {
    await run(async (tx) => {
      await tx.query(
        `insert into blobs (tenant_id, hash, body) values ($1, 'h', '{}') on conflict do nothing`,
        [tenantId],
      );
      for (const call of calls) {
        await tx.query(
          `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose, request_hash)
           select $1, $2, $3, id, 'x/m', 'document', 'h' from jobs where session_id = $3 limit 1`,
          [tenantId, call, sessionId],
        );
      }
      await tx.query(`insert into call_pieces values ($1, $2, 1, 'twelve chars')`, [
        tenantId,
        calls[0],
      ]);
    });
  }

  test('waits for a dead call only while somebody can take it over', async () => {
    const ledger = await newLedger();
    const { tenantId, run } = ledger;
    const { sessionId } = await startDebate(database, tenantId, 1);
    const dead = newId();
    await leaveCalls(ledger, sessionId, [dead]);
    await ledger.grant(100);
    await run((tx) =>
      setBudget(tx, { scope: 'tenant', ownerId: tenantId, currency: 'USD', amount: 95 }),
    );
    await ledger.hold(dead, 90, sessionId);
    const wish = async (by?: string) => (await ledger.hold(newId(), 50, by)).outcome;
    expect(await wish()).toBe('wait');
    await run((tx) => addGate(tx, sessionId, 'user'));
    expect(await wish()).toBe('budget');
    await database.transaction({ as: 'owner' }, (tx) => tx.query('delete from budgets'));
    expect(await wish()).toBe('funds');
    // Its text must still become a chunk, so its money stays where it is.
    expect(await ledger.wallet()).toMatchObject({ balance: 100, held: 90 });
    await run((tx) => removeGate(tx, sessionId));
    expect(await wish()).toBe('wait');
    // Due for a minute, and nobody came: only a call of the same session knows that somebody will.
    await run((tx) => tx.query(`update jobs set run_after = run_after - interval '1 minute'`));
    expect(await wish()).toBe('funds');
    expect(await wish(sessionId)).toBe('wait');
  });

  test('settles what another wallet paid for where a cap of all is short', async () => {
    const ledger = await newLedger();
    const { tenantId, run } = ledger;
    const { sessionId, projectId } = await startDebate(database, tenantId, 1);
    const left = newId();
    await leaveCalls(ledger, sessionId, [left]);
    await ledger.grant(500, 'p', projectId);
    await run((tx) =>
      setBudget(tx, { scope: 'tenant', ownerId: tenantId, currency: 'USD', amount: 100 }),
    );
    await ledger.hold(left, 90, sessionId);
    await run((tx) => cancelSession(tx, sessionId));
    expect((await ledger.hold(newId(), 50)).outcome).toBe('held');
    expect(await ledger.wallet('project')).toMatchObject({ balance: 473, held: 0 });
  });

  test('settles the holds of calls that nobody can post any more, and only those', async () => {
    const ledger = await newLedger();
    const { tenantId } = ledger;
    const { sessionId } = await startDebate(database, tenantId, 1);
    const calls = [newId(), newId()];
    await leaveCalls(ledger, sessionId, calls);
    for (const call of calls) await ledger.hold(call, 100, sessionId);
    const settle = () => ledger.run((tx) => settleLeftHolds(tx));
    expect(await settle()).toBe(0);
    await ledger.run((tx) => cancelSession(tx, sessionId));
    expect(await settle()).toBe(2);
    expect(await settle()).toBe(0);
    // Three tokens of ten arrived of the one; nothing of the other.
    expect(await ledger.wallet()).toMatchObject({ balance: -30, held: 0 });
    const [posting] = await ledger.run((tx) =>
      tx.query<{ details: unknown }>('select details from postings where call_id = $1', [calls[0]]),
    );
    const usage = { inputTokens: 0, outputTokens: 3, cachedInputTokens: 0, cacheWriteTokens: 0 };
    expect(posting!.details).toEqual({
      model: 'x/m',
      price: PRICE,
      usage: { ...usage, estimated: true },
      responseId: null,
    });
    expect(await ledger.run((tx) => tx.query('select 1 from call_pieces'))).toEqual([]);
    await expect(ledger.post(calls[1]!, 50)).rejects.toMatchObject({ code: 'hold_closed' });
  });

  test.runIf(kind === 'server')('locks payers before calls, whoever settles', async () => {
    const ledger = await newLedger();
    const { tenantId, run } = ledger;
    const { sessionId } = await startDebate(database, tenantId, 1);
    const call = newId();
    await leaveCalls(ledger, sessionId, [call]);
    await ledger.hold(call, 100, sessionId);
    await run((tx) => cancelSession(tx, sessionId));
    const job = { tenantId, leaseToken: newId() } as Job;
    const error = new DialecticError('provider_bad_response', 'Nothing came.');
    const late = { callId: call, error, model: 'x/m', price: null };
    let failing: Promise<void> | undefined;
    await run(async (tx) => {
      await tx.query('select lock_wallets($1)', [tenantId]);
      failing = failCall(database, job, late);
      const blocked = () =>
        database.transaction({ as: 'owner' }, (other) =>
          other.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'
             and datname = current_database()`),
        );
      await expect.poll(blocked).toHaveLength(1);
      expect(await settleLeftHolds(tx)).toBe(1);
    });
    await failing;
    expect(await ledger.wallet()).toMatchObject({ balance: -30, held: 0 });
  });
});
