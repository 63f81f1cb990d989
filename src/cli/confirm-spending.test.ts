import { PassThrough } from 'node:stream';
import { beforeAll, expect, test, vi } from 'vitest';
import { afterTheFile, emptyDirectory } from '../../test/stores.ts';
import type { Estimate } from '../estimate/types.ts';
import { type Dialectic, openDialectic } from '../index.ts';
import type { Consent } from './confirm.ts';
import { confirmSpending, spendingOf } from './confirm-spending.ts';

let dialectic: Dialectic;
let told = '';
beforeAll(async () => {
  const dataDirectory = await emptyDirectory();
  dialectic = await openDialectic({ dataDirectory, environment: {}, backupEveryMs: 0 });
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
  afterTheFile(async () => {
    stderr.mockRestore();
    await dialectic.close();
  });
});

const COST = { costUsd: { low: 3, middle: 4, high: 6 }, tokens: 1_200_000 };
const ask = (
  budget: { usd?: string; tokens?: string },
  consent: Consent = null,
  spending: Parameters<typeof confirmSpending>[1] = COST,
): Promise<void> =>
  confirmSpending(dialectic, spending, { budget, confirmAboveUsd: 5, consent, session: null });
const refused = (message: string) => ({
  code: 'spending_unconfirmed',
  message: expect.stringContaining(message) as string,
});

/** A person who types an answer, and what they were asked. */
function person(answer: string) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.write(`${answer}\n`);
  return { input, output };
}

test('what stays within its budget, and below the set amount, is not asked about', async () => {
  await ask({});
  await ask({ usd: '4', tokens: '1200000' });
  await ask({ usd: '50' }, null, { ...COST, costUsd: { low: 20, middle: 40, high: 50 } });
  await ask({}, null, { costUsd: null, tokens: 1e9 });
  expect(told).toBe('');
});

test('a model without a known price does not hide what the others cost', async () => {
  const priced = { model: 'a/dear', costUsd: { low: 60, middle: 70, high: 90 } };
  const estimate = {
    costUsd: null,
    models: [priced, { model: 'b/unknown', costUsd: null }],
    searches: null,
    unpriced: ['b/unknown'],
    inputTokens: COST.costUsd,
    outputTokens: COST.costUsd,
  };
  const spending = spendingOf(estimate as unknown as Estimate);
  await expect(ask({}, null, spending)).rejects.toMatchObject(
    refused(
      'cost $70.00 ($60.00 at least, $90.00 at most), and what b/unknown costs beside it, which is above $5.00',
    ),
  );
  const none = spendingOf({ ...estimate, models: [] } as unknown as Estimate);
  await ask({}, null, none);
});

test('what will probably exceed its budget is refused where nobody can be asked', async () => {
  const cost =
    'This will probably cost $4.00 ($3.00 at least, $6.00 at most), and its budget leaves $2.50: it would';
  await expect(ask({ usd: '2.50' })).rejects.toMatchObject(refused(cost));
  const use = 'This will probably use 1.2M tokens, and its budget leaves 500K';
  await expect(ask({ tokens: '500_000' })).rejects.toMatchObject(refused(use));
  const dear = { ...COST, costUsd: { low: 6, middle: 6, high: 6 } };
  const above = 'cost $6.00, which is above $5.00 (spending.confirmAboveUsd)';
  await expect(ask({}, null, dear)).rejects.toMatchObject(refused(above));
});

test('a person decides, and --yes has decided', async () => {
  const willing = person('y');
  await ask({ usd: '2.50' }, willing);
  expect(String(willing.output.read())).toContain('its end. Start it all the same? [y/N]');
  await expect(ask({ usd: '2.50' }, person(''))).rejects.toMatchObject(
    refused('Nothing was started.'),
  );
  await ask({ usd: '2.50' }, 'given');
  expect(told).toContain('and its budget leaves $2.50');
});

test('the cap on all spending and the wallet count, with what was spent', async () => {
  await dialectic.wallet.setBudget('3');
  await expect(ask({})).rejects.toMatchObject(refused('and the cap on all spending leaves $3.00'));
  await dialectic.wallet.setBudget('9');
  await dialectic.wallet.grant('1.25');
  await expect(ask({})).rejects.toMatchObject(refused('and the wallet leaves $1.25'));
  await dialectic.wallet.grant('5');
  await ask({});
});
