import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { readBalances } from '../../src/wallet/balances.ts';
import { reportCosts } from '../../src/wallet/report.ts';
import { seeded } from '../chaos/crash-jobs.ts';
import { startScript } from '../chaos/processes.ts';
import { emptyDirectory } from '../stores.ts';
import { type Billed, startModelServer } from './model-server.ts';
import { RATES, startDebate } from './sessions.ts';

type Costs = Awaited<ReturnType<typeof reportCosts>>;

type Place = { dataDirectory: string };

/** How many answers come to their end in the life of one process. */
const PASSES = 2;

async function inStore<T>(place: Place, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(place, { backupEveryMs: 0 });
  try {
    await ensureLocalTenant(database);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Runs a debate of two models at a faulty provider while its process is killed again and again. */
export async function crashWhilePaying(plan: { drafts: number; kills: number; seed: number }) {
  const place = { dataDirectory: await emptyDirectory() };
  // So many answers may end; the others rest in their middle, so that every kill finds calls open.
  let passes = 0;
  const resting: (() => void)[] = [];
  const server = await startModelServer({
    faultRate: 0.3,
    seed: plan.seed,
    chars: 3_000,
    rest: () => (passes-- > 0 ? Promise.resolve() : new Promise((go) => resting.push(go))),
  });
  try {
    const { sessionId } = await inStore(place, (database) =>
      startDebate(database, LOCAL_TENANT, plan.drafts),
    );
    const settings = JSON.stringify({ place, url: server.url, sessionId });
    const chance = seeded(plan.seed);
    for (let kill = 0; kill < plan.kills; kill++) {
      passes = PASSES;
      const worker = startScript('../wallet/money-worker.ts', settings);
      await expect.poll(() => resting.length).toBeGreaterThan(0);
      await sleep(chance() * 300);
      worker.child.kill('SIGKILL');
      expect(await worker.ended, worker.errors.join('')).toBe(null);
      for (const go of resting.splice(0)) go();
    }
    passes = Number.POSITIVE_INFINITY;
    const worker = startScript('../wallet/money-worker.ts', settings);
    expect(await worker.ended, worker.errors.join('')).toBe(0);
    expect(worker.lines.at(-1), worker.errors.join('')).toBe('ended completed');
    const { report, balances } = await inStore(place, (database) =>
      database.asTenant(LOCAL_TENANT, async (tx) => ({
        report: await reportCosts(tx, sessionId),
        balances: await readBalances(tx),
      })),
    );
    expectEachPaidOnce(report, server.billed);
    expectNothingHeld(report, balances);
    return report;
  } finally {
    await server.stop();
  }
}

/** Every call was posted once, at what the provider's record says; or brought nothing. */
function expectEachPaidOnce(report: Costs, billed: readonly Billed[]): void {
  const bills = new Map(billed.map((bill) => [bill.id, bill]));
  const seen = new Set<string>();
  for (const call of report.calls) {
    expect(call.posting === null, call.id).toBe(call.status === 'failed');
    if (call.posting === null) {
      expect(call.usd, call.id).toBe(0);
      continue;
    }
    const { inputTokens, outputTokens } = call.usage!;
    expect(call.usd * 1e6).toBeCloseTo(inputTokens * RATES.input + outputTokens * RATES.output, 3);
    expect(call.estimated, call.id).toBe(call.status === 'cut');
    if (call.estimated) continue;
    const bill = bills.get(call.responseId!)!;
    expect(seen.has(bill.id), `${bill.id} was posted twice`).toBe(false);
    seen.add(bill.id);
    expect({ inputTokens, outputTokens }).toEqual({
      inputTokens: bill.inputTokens,
      outputTokens: bill.outputTokens,
    });
  }
  const posted = report.entries.filter((entry) => entry.account === 'provider');
  const perCall = Map.groupBy(posted, (entry) => `${entry.call}/${entry.currency}`);
  expect([...perCall.values()].every((entries) => entries.length === 1)).toBe(true);
}

function expectNothingHeld(
  report: Costs,
  balances: readonly { currency: string; balance: number; held: number }[],
) {
  expect(report.holds).toEqual([]);
  for (const currency of ['USD', 'token']) {
    const own = balances.filter((account) => account.currency === currency);
    expect(own.reduce((sum, account) => sum + account.balance, 0)).toBe(0);
    expect(own.every((account) => account.held === 0)).toBe(true);
  }
}
