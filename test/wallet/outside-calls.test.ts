import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadTokenCounter } from '../../src/models/tokens.ts';
import { newId } from '../../src/platform/ids.ts';
import { holdFunds, settleLeftHolds } from '../../src/wallet/holds.ts';
import { startAuthorServer } from '../author-server.ts';
import { runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, newTenant, openTestStore, temporaryFolder } from '../stores.ts';

const MODEL = 'compatible/writer';
const PRICE = `models:\n  ${MODEL}: { price: { input: 100, output: 1000 } }\n`;
const RUN = ['run', 'brief.md', '-m', MODEL, '-p', 'decision-memo', '--until', 'clarify', '--yes'];

/** The server shares this process, which loading keeps busy for longer than a list may take. */
beforeAll(async () => {
  await loadTokenCounter();
}, 60_000);

type Made = Awaited<ReturnType<typeof place>>;

/** A store, a brief, a priced model and a server that wants a key, so that its list proves nothing. */
async function place(instead?: (prompt: string) => unknown) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  await writeFile(join(folder, 'home/dialectic/dialectic.config.yaml'), PRICE);
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
  const asked: string[] = [];
  const server = await startAuthorServer(['writer'], (prompt) => {
    asked.push(prompt);
    return instead?.(prompt);
  });
  const env = {
    DATABASE_URL: await emptyDatabase(),
    XDG_CONFIG_HOME: join(folder, 'home'),
    DIALECTIC_BASE_URL: server.url,
    DIALECTIC_API_KEY: 'some-key-of-a-test',
  };
  const dialectic = (...words: string[]) => runDialectic(words, { cwd: folder, env });
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await dialectic(...words, '--json');
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  /** How often the model was asked whether it can be reached. */
  const questions = (): number => asked.filter((text) => text.includes('the word yes')).length;
  return { dialectic, json, questions, asked, stop: server.stop };
}

type Account = { kind: string; currency: string; balance: number; held: number };

const spentOf = async ({ json }: Made): Promise<number> => {
  const { accounts } = (await json('wallet', 'balance')) as { accounts: Account[] };
  expect(accounts.every(({ held }) => held === 0)).toBe(true);
  return accounts
    .filter(({ kind, currency }) => kind === 'provider' && currency === 'USD')
    .reduce((sum, { balance }) => sum + balance, 0);
};

test('the question before a run is on the ledger, in the session and inside its budget', async () => {
  const made = await place();
  await made.json('wallet', 'grant', '100');
  const result = await made.json(...RUN, '--budget', '50');
  expect(made.questions()).toBe(1);
  const report = await made.json('wallet', 'report');
  expect(report.preflight).toMatchObject({ calls: 1 });
  expect(report.preflight.usd).toBeGreaterThan(0);
  expect(report.calls.filter((call: { purpose: string }) => call.purpose === 'preflight')).toEqual([
    expect.objectContaining({ model: MODEL, stage: 'preflight' }),
  ]);
  expect(result.usage.costUsd).toBeCloseTo(report.total, 9);
  expect(await spentOf(made)).toBe(report.totalMicros);
  const { budgets, accounts } = await made.json('wallet', 'balance');
  expect(budgets).toMatchObject([{ scope: 'session', spent: report.totalMicros, held: 0 }]);
  const paid = accounts.find(
    ({ kind, currency }: Account) => kind === 'user' && currency === 'USD',
  );
  expect(paid.balance).toBe(100e6 - report.totalMicros);
  const text = await made.dialectic('wallet', 'report');
  expect(text.stdout).toMatch(/^ {2}preflight +1 call +\d+ tokens/m);
  const history = await made.dialectic('wallet', 'history');
  expect(history.stdout).toContain(`call preflight ${MODEL}`);
  await made.stop();
}, 120_000);

test('a budget of 0 leaves the paid question out, and says so', async () => {
  const made = await place();
  const { stderr } = await made.dialectic(...RUN, '--budget', '0');
  expect(made.questions()).toBe(0);
  expect(stderr).toMatch(/Not sure of compatible\/writer: it was not asked by a paid call,/);
  expect(stderr).toMatch(/may cost \$0\.\d+ at most, and the budget of the run leaves \$0\.00/);
  expect(await spentOf(made)).toBe(0);
  await made.stop();
}, 120_000);

test('a wallet or a cap that leaves nothing leaves the paid question out', async () => {
  const made = await place();
  await made.json('wallet', 'budget', '0');
  const capped = await made.dialectic(...RUN);
  expect(capped.stderr).toContain('and the cap on all spending leaves $0.00');
  await made.json('wallet', 'budget', 'none');
  await made.json('wallet', 'grant', '0.000001');
  const poor = await made.dialectic(...RUN);
  expect(poor.stderr).toContain('and the wallet has $0.000001');
  expect(made.questions()).toBe(0);
  expect(await spentOf(made)).toBe(0);
  await made.stop();
}, 120_000);

test('a question whose price is unknown is left out where dollars are limited', async () => {
  const made = await place();
  await made.json('wallet', 'grant', '5');
  const unknown = RUN.map((word) => (word === MODEL ? 'compatible/unheard-of' : word));
  const { stderr } = await made.dialectic(...unknown);
  expect(stderr).toMatch(/was not asked by a paid call \(Dollars are limited, and the price of/);
  expect(made.questions()).toBe(0);
  await made.stop();
}, 120_000);

test('a question is paid by the wallet where the run does not start', async () => {
  const made = await place();
  const refused = await made.dialectic(
    ...RUN.filter((word) => word !== '--yes'),
    '--budget',
    '0.05',
  );
  expect(refused.stderr).toContain('spending_unconfirmed');
  expect(made.questions()).toBe(1);
  expect(await made.json('list')).toEqual([]);
  expect(await spentOf(made)).toBeGreaterThan(0);
  const [dollars] = (await made.json('wallet', 'history')).filter(
    ({ currency }: { currency: string }) => currency === 'USD',
  );
  expect(dollars).toMatchObject({ kind: 'call', purpose: 'preflight', session: null });
  await made.stop();
}, 120_000);

test('resume asks again at the cost of its session', async () => {
  const made = await place();
  const { session } = await made.json(...RUN, '--budget', '50');
  const before = (await made.json('wallet', 'report')).preflight;
  await made.json('resume', session, '--until', 'clarify').catch(() => {});
  expect(made.questions()).toBe(2);
  const after = await made.json('wallet', 'report');
  expect(after.preflight).toMatchObject({ calls: 2 });
  expect(after.preflight.usd).toBeGreaterThan(before.usd);
  const { budgets } = await made.json('wallet', 'balance');
  expect(budgets).toMatchObject([{ scope: 'session', spent: after.totalMicros }]);
  await made.stop();
}, 120_000);

test('what a process held that died is given back', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const worst = { usdMicros: 500, tokens: 20, inputUsdMicros: 100, inputTokens: 10 };
  const hold = { callId: newId(), purpose: 'preflight', provider: 'lab', sessionId: null };
  const read = () =>
    database.asTenant(tenantId, async (tx) => {
      await settleLeftHolds(tx);
      return tx.query('select status from holds where call_id = $1', [hold.callId]);
    });
  await database.asTenant(tenantId, (tx) => holdFunds(tx, { ...hold, ...worst }));
  expect(await read()).toEqual([{ status: 'held' }]);
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query(`update holds set created_at = created_at - interval '3 hours' where call_id = $1`, [
      hold.callId,
    ]),
  );
  expect(await read()).toEqual([{ status: 'expired' }]);
});
