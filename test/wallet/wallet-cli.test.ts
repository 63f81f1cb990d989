import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';
import { startModelServer } from './model-server.ts';
import { configFor, MODELS, startDebate, work } from './sessions.ts';

const dialecticAt =
  (DATABASE_URL: string, cwd: string) =>
  (...parameters: string[]) =>
    runDialectic(parameters, {
      cwd,
      env: { DATABASE_URL, DIALECTIC_BASE_URL: 'http://127.0.0.1:9' },
    });

/** A store with a session that two models have finished. */
async function finishedSession() {
  const databaseUrl = await emptyDatabase();
  const server = await startModelServer();
  const database = await openDatabase({ databaseUrl });
  await ensureLocalTenant(database);
  const { sessionId } = await startDebate(database, LOCAL_TENANT, 1);
  const place = { tenantId: LOCAL_TENANT, sessionId };
  expect(await work(database, place, configFor(server.url))).toBe('completed');
  await database.close();
  await server.stop();
  return { databaseUrl, sessionId, billed: server.billed };
}

test('wallet explains a session, grants, and shows what moved', async () => {
  const { databaseUrl, sessionId, billed } = await finishedSession();
  const dialectic = dialecticAt(databaseUrl, await temporaryFolder());
  const wallet = async (...parameters: string[]) => {
    const { code, stdout, stderr } = await dialectic('wallet', ...parameters);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const report = JSON.parse(await wallet('report', sessionId, '--json'));
  const spent = billed.reduce(
    (sum, bill) => sum + bill.inputTokens * 3 + bill.outputTokens * 15,
    0,
  );
  expect(report).toMatchObject({ currency: 'USD', totalMicros: spent, holds: [] });
  expect(report.calls.length).toBe(4);
  expect(report.entries.length).toBe(16);
  expect(report.entries[0].price.rates).toMatchObject({ input: 3, output: 15 });
  for (const part of [report.byStage, report.byModel, report.byDocument]) {
    expect(part.reduce((sum: number, one: { usd: number }) => sum + one.usd, 0)).toBeCloseTo(
      spent / 1e6,
      9,
    );
  }
  const table = (await wallet('report', '--csv')).trim().split('\n');
  expect(table.length).toBe(5);
  expect(table[0]).toContain('stage,step,document');

  const [{ posting, usd }] = report.calls;
  const back = await wallet('refund', String(posting), String(usd), '--note', 'credited');
  expect(back).toContain(`refunded for posting ${posting}`);
  const after = JSON.parse(await wallet('report', sessionId, '--json'));
  expect(after.totalMicros).toBe(spent - Math.round(usd * 1e6));
  const more = await dialectic('wallet', 'refund', String(posting), '0.000001');
  expect(more).toMatchObject({ code: 5, stderr: expect.stringContaining('refund_too_large') });
  const unknown = await dialectic('wallet', 'refund', '999999', '0.01');
  expect(unknown.stderr).toContain('`dialectic wallet report --csv` has them. (not_found)');

  await wallet('grant', '2.50', '--key', 'once');
  await wallet('grant', '2.50', '--key', 'once');
  const { accounts } = JSON.parse(await wallet('balance', '--json'));
  expect(accounts).toContainEqual({
    kind: 'user',
    owner: '',
    currency: 'USD',
    balance: 2_500_000,
    held: 0,
    unlimited: false,
  });
  const history = (await wallet('history', '--csv')).trim().split('\n');
  expect(history.filter((line) => line.includes(',grant,')).length).toBe(1);
}, 120_000);

test('a budget in dollars is refused where a price is unknown', async () => {
  const folder = await temporaryFolder();
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Write a lot.');
  const models = MODELS.flatMap((model) => ['--model', model]);
  const dialectic = dialecticAt(await emptyDatabase(), folder);
  const run = await dialectic('run', brief, ...models, '--budget', '1');
  expect(run.code).toBe(2);
  expect(run.stderr).toContain('price_unknown');
  const wrong = await dialectic('wallet', 'grant', 'lots');
  expect(wrong.code).toBe(2);
}, 120_000);
