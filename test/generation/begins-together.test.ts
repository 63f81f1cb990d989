import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readRequests } from '../../src/documents/requests.ts';
import { beginCall } from '../../src/handlers/begin-call.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import type { Job } from '../../src/jobs/types.ts';
import { newId } from '../../src/platform/ids.ts';
import { setBudget } from '../../src/wallet/ledger.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';

const RATES = { input: 1, cachedInput: 1, cacheWrite: 1, output: 2 };
const PRICE = { source: 'configuration' as const, rates: RATES, steps: [] };
const NAMES = ['a', 'b', 'c', 'd'];
const MOST = { usdMicros: 900, tokens: 900, inputUsdMicros: 1, inputTokens: 1 };
const FUNDS = ['require-leases', 'read-chain-costs', 'save-blobs', 'begin-calls'];

describeOnBoth('calls that begin together', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  /** Jobs of one session that were claimed, and what begins a call of each. */
  async function claimAll(budget?: number) {
    const { tenantId } = await newTenant(database);
    const bench = await Bench.open(database, tenantId);
    const limit = { scope: 'session', ownerId: bench.sessionId, currency: 'USD' } as const;
    if (budget !== undefined) {
      await database.asTenant(tenantId, (tx) => setBudget(tx, { ...limit, amount: budget }));
    }
    await bench.enqueue(...NAMES.map((name) => named(name)));
    const claimed = await claimJobs(database, newId(), NAMES.length, 60_000, 'nothing', bench);
    const jobs = claimed.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    const begin = (job: Job) =>
      beginCall(database, job, {
        callId: newId(),
        request: {
          model: 'x/m',
          system: 'All are told this.',
          messages: [{ role: 'user', content: `it's "${nameOf(job)}" \\ {1,2}` }],
        },
        purpose: 'document',
        shortened: [{ label: nameOf(job), tokens: 2, after: 1 }],
        provider: 'x',
        cost: MOST,
        price: PRICE,
        countedTokens: nameOf(job) === 'b' ? null : 7,
      });
    return { tenantId, bench, jobs, begin };
  }

  /** What is left, without ids and times, job by job. */
  async function readLeft({ tenantId, bench }: Awaited<ReturnType<typeof claimAll>>) {
    return database.asTenant(tenantId, async (tx) => {
      const requests = await readRequests(tx, bench.sessionId);
      const rows = await tx.query<{ id: string }>(
        `select m.id, j.payload->>'name' as name, m.model, m.purpose, m.status, m.shortened,
           m.counted_tokens, h.provider, h.usd, h.tokens, h.input_usd, h.status as hold, h.price
         from jobs j join model_calls m on m.job_id = j.id join holds h on h.call_id = m.id
         order by j.seq`,
      );
      return {
        calls: rows.map(({ id, ...row }) => ({ ...row, request: requests.get(id) })),
        accounts: await tx.query(
          `select kind, currency, balance, held from accounts order by kind, currency`,
        ),
        budgets: await tx.query('select held, spent from budgets'),
      };
    });
  }

  test('leave the same as one behind the other, by one statement of each kind', async () => {
    const alone = await claimAll();
    for (const job of alone.jobs) await alone.begin(job);
    const group = await claimAll();
    const sent = await watchTexts(database);
    const begun = await Promise.all(group.jobs.map((job) => group.begin(job)));
    const names = [
      ...sent()
        .join('\n')
        .matchAll(/execute "batch_([^"]+)"/g),
    ].map(([, one]) => one);
    expect(names).toEqual([...FUNDS, 'note-requests', 'require-funds']);
    expect(begun.map(({ outcome, usdLeft }) => [outcome, usdLeft])).toEqual(
      NAMES.map(() => ['held', null]),
    );
    const left = await readLeft(group);
    expect(left.calls).toHaveLength(NAMES.length);
    expect(left).toEqual(await readLeft(alone));
  });

  test('are held within a budget as one behind the other, and the one too many is refused', async () => {
    const run = await claimAll(3_000);
    const begun = await Promise.all(run.jobs.map((job) => run.begin(job)));
    expect(begun.map(({ outcome }) => outcome).toSorted()).toEqual([
      'held',
      'held',
      'held',
      'wait',
    ]);
    const { calls, budgets } = await readLeft(run);
    expect(calls).toHaveLength(3);
    expect(budgets).toEqual([{ held: 2_700, spent: 0 }]);
  });

  test('begin without the one that lost its lease', async () => {
    const run = await claimAll();
    const begins = run.jobs.map((job) =>
      run.begin(nameOf(job) === 'b' ? { ...job, leaseToken: newId() } : job),
    );
    const failed = (await Promise.allSettled(begins)).filter(({ status }) => status === 'rejected');
    expect(failed).toMatchObject([{ reason: { code: 'lease_lost' } }]);
    const { calls, accounts } = await readLeft(run);
    expect(calls).toHaveLength(3);
    const user = { kind: 'user', currency: 'USD', balance: 0, held: 2_700 };
    expect(accounts).toContainEqual(user);
  });
});

const nameOf = (job: Job): string => job.payload['name'] as string;
