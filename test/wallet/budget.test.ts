import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { removeGate } from '../../src/jobs/sessions.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import { readCounts } from '../../src/session/counts.ts';
import { listSessions } from '../../src/session/list-sessions.ts';
import { readSession } from '../../src/session/read.ts';
import {
  approveSpending,
  type BudgetScope,
  grantFunds,
  setBudget,
} from '../../src/wallet/ledger.ts';
import { reportCosts } from '../../src/wallet/report.ts';
import { rebuild } from '../simulation/compare-log.ts';
import { afterTheFile, describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { type ServerPlan, startModelServer } from './model-server.ts';
import { configFor, startDebate, work } from './sessions.ts';

const DRAFTS = 5;
const CALLS = 2 * (DRAFTS + 1);

describeOnBoth('a run with a limit', (kind) => {
  // Both stores run the same statements; whole debates on one are proof enough for these.
  const onServer = (title: string, work: () => Promise<void>): void => {
    if (kind === 'server') test(title, work);
  };
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  /** A tenant of its own, a server that counts, and a session that has not begun. */
  async function setUp(plan: ServerPlan = {}, mostOutput = 300) {
    const { tenantId } = await newTenant(database);
    const server = await startModelServer({ gapMs: 2, ...plan });
    afterTheFile(() => server.stop());
    const { sessionId, projectId } = await startDebate(database, tenantId, DRAFTS);
    const place = { tenantId, sessionId };
    const inTenant = <T>(act: Parameters<typeof database.asTenant<T>>[1]) =>
      database.asTenant(tenantId, act);
    return {
      ...place,
      projectId,
      billed: server.billed,
      inTenant,
      configWithoutPrice: configFor(server.url, mostOutput, null),
      run: () => work(database, place, configFor(server.url, mostOutput)),
      runWith: (change: (provider: ModelProvider) => ModelProvider) => {
        const config = configFor(server.url, mostOutput);
        return work(database, place, config, change(createModelProvider(config)));
      },
      open: () => inTenant((tx) => removeGate(tx, sessionId)),
      shortages: async () => (await inTenant((tx) => readSession(tx, sessionId))).shortages,
      report: () => inTenant((tx) => reportCosts(tx, sessionId)),
      jobs: () =>
        inTenant((tx) =>
          tx.query<{ attempt: number; failed: number }>(
            `select max(attempt) as attempt, count(*) filter (where status = 'failed') as failed
             from jobs where session_id = $1`,
            [sessionId],
          ),
        ),
    };
  }

  let wholeRun: Promise<number> | undefined;
  /** What a run without a limit costs; all runs cost the same. */
  const fullCost = (): Promise<number> => (wholeRun ??= measureCost());
  async function measureCost(): Promise<number> {
    const whole = await setUp();
    expect(await whole.run()).toBe('completed');
    expect(whole.billed.length).toBe(CALLS);
    return (await whole.report()).totalMicros;
  }

  test('pauses within half of its cost, and goes on with more without repeating a call', async () => {
    const amount = Math.floor((await fullCost()) / 2);
    const wider: BudgetScope[] = kind === 'server' ? ['project', 'tenant'] : [];
    for (const scope of ['session', ...wider] satisfies BudgetScope[]) {
      const run = await setUp();
      const { tenantId, sessionId, projectId } = run;
      const ownerId = { session: sessionId, project: projectId, tenant: tenantId }[scope];
      const cap = (most: number | null) =>
        run.inTenant((tx) => setBudget(tx, { scope, ownerId, currency: 'USD', amount: most }));
      await cap(amount);
      expect(await run.run(), scope).toBe('budget');
      expect(await run.shortages()).toEqual({ budget: { scope, currency: 'USD' } });
      const paused = await run.report();
      expect(paused.totalMicros).toBeGreaterThan(0);
      expect(paused.totalMicros).toBeLessThanOrEqual(amount);
      expect(paused.holds).toEqual([]);
      expect(await run.jobs()).toEqual([{ attempt: 0, failed: 0 }]);
      expect(run.billed.length).toBeLessThan(CALLS);
      await cap(amount * 3);
      await run.open();
      expect(await run.run(), scope).toBe('completed');
      expect(run.billed.length).toBe(CALLS);
      expect((await run.report()).calls.length).toBe(CALLS);
    }
  });

  onServer('lets calls wait for those in flight, and pauses only when none is left', async () => {
    const run = await setUp({ gapMs: 20 }, 2_000);
    const { sessionId } = run;
    // Holds are far above what calls use: all fit one after another, but not at once.
    await run.inTenant((tx) =>
      setBudget(tx, {
        scope: 'session',
        ownerId: sessionId,
        currency: 'token',
        amount: 9_000,
      }),
    );
    expect(await run.run()).toBe('completed');
    expect(run.billed.length).toBe(CALLS);
    expect(await run.jobs()).toEqual([{ attempt: 0, failed: 0 }]);
  });

  test('stops for want of funds and goes on when there are some', async () => {
    const cost = await fullCost();
    const run = await setUp();
    const grant = (key: string, amount: number) =>
      run.inTenant((tx) => grantFunds(tx, { key, currency: 'USD', amount }));
    await grant('first', Math.floor(cost / 2));
    expect(await run.run()).toBe('funds');
    expect(await run.shortages()).toEqual({ funds: { scope: 'user', currency: 'USD' } });
    await grant('second', cost * 2);
    await run.open();
    expect(await run.run()).toBe('completed');
    expect(run.billed.length).toBe(CALLS);
  });

  onServer('sends nothing to a model of unknown price where dollars are limited', async () => {
    for (const limit of ['wallet', 'cap', 'tokens'] as const) {
      const run = await setUp();
      const { tenantId, sessionId } = run;
      const currency = limit === 'tokens' ? 'token' : 'USD';
      const cap = { scope: 'tenant', ownerId: tenantId, currency } as const;
      await run.inTenant(async (tx) => {
        if (limit !== 'wallet') await setBudget(tx, { ...cap, amount: 1_000_000 });
        else await grantFunds(tx, { key: 'g', currency, amount: 1_000_000 });
      });
      const ended = await work(database, { tenantId, sessionId }, run.configWithoutPrice);
      expect(ended, limit).toBe(limit === 'tokens' ? 'completed' : 'failed');
      if (limit === 'tokens') continue;
      expect(run.billed).toEqual([]);
      expect(await run.report()).toMatchObject({ calls: [], holds: [], tokens: 0 });
      const errors = await run.inTenant((tx) =>
        tx.query(`select distinct error->>'code' as code from jobs where job_type = 'EXECUTE'
           and status = 'failed'`),
      );
      expect(errors).toContainEqual({ code: 'price_unknown' });
    }
  });

  onServer('pays what the provider reports of an answer without text', async () => {
    const run = await setUp({ isSilent: (what, turn) => what === 'draft/draft_0' && turn === 0 });
    expect(await run.run()).toBe('completed');
    expect(run.billed.map(({ fault }) => fault)).toContain('silent');
    const { calls, totalMicros, retries } = await run.report();
    const due = run.billed.map((bill) => bill.inputTokens * 3 + bill.outputTokens * 15);
    expect(totalMicros).toBe(due.reduce((sum, cost) => sum + cost, 0));
    expect(calls.filter(({ status }) => status === 'failed')).toMatchObject([
      { estimated: false, usage: { estimated: false }, price: { rates: { input: 3 } } },
    ]);
    expect(retries.unanswered).toBe(0);
  });

  test('counts no call whose request never left, also in rows that do not say so', async () => {
    const run = await setUp({ isSilent: (what, turn) => what === 'draft/draft_0' && turn === 0 });
    const { tenantId, sessionId } = run;
    let refusals = 4;
    const details = { sent: false, retryAfterMs: 1 };
    const refusing = (provider: ModelProvider): ModelProvider => ({
      ...provider,
      generate: async (request, options) => {
        if (refusals-- > 0) throw new DialecticError('provider_circuit_open', 'Open.', { details });
        return provider.generate(request, options);
      },
    });
    expect(await run.runWith(refusing)).toBe('completed');
    // The call that was sent and brought nothing is one; the refusals of the circuit breaker are none.
    const sent = run.billed.length;
    expect(sent).toBe(CALLS + 1);
    const rows = await run.inTenant((tx) =>
      tx.query('select error from model_calls where session_id = $1', [sessionId]),
    );
    expect(rows.length).toBe(sent + 4);
    const counts = async () => {
      const report = await run.report();
      const { calls } = await run.inTenant((tx) => readCounts(tx, sessionId));
      const [listed] = await listSessions(database, tenantId);
      const { unanswered } = report.retries;
      return { report: report.calls.length, calls, listed: listed?.calls, unanswered };
    };
    const all = { report: sent, calls: sent, listed: sent, unanswered: 0 };
    expect(await counts()).toEqual(all);
    const told = async () => {
      const state = await rebuild(database, tenantId, sessionId);
      return [...state.calls.values()].reduce((sum, one) => sum + one, 0);
    };
    // Transactions of other tests on the same server delay readers of the log.
    await expect.poll(told, { interval: 20 }).toBe(sent);
    await run.inTenant((tx) => tx.query("update model_calls set error = error - 'sent'"));
    expect(await counts()).toEqual(all);
  });

  onServer('asks a person before an unplanned call takes much of the wallet', async () => {
    const wrong = (deliverable: string, turn: number) =>
      deliverable === 'review/review' && turn < 2 ? '{"text": ""}' : undefined;
    const cost = await fullCost();
    const run = await setUp({ answer: wrong });
    const { sessionId } = run;
    const amount = cost + 10_000; // what is left at the end is less than five times a call's worst case
    await run.inTenant((tx) => grantFunds(tx, { key: 'g', currency: 'USD', amount }));
    expect(await run.run()).toBe('approval');
    await run.inTenant((tx) => approveSpending(tx, sessionId));
    await run.open();
    expect(await run.run()).toBe('completed');
    expect((await run.report()).retries.calls).toBe(2);
  });
});
