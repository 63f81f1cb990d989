import { expect, test } from 'vitest';
import { formatAmount } from '../wallet/amounts.ts';
import { describeAccount, describeBudget, describeReport } from './wallet-text.ts';

const usd = (micros: number): string => formatAmount(micros, 'USD');

test('what is held of a budget is not shown as left', () => {
  const budget = {
    scope: 'tenant',
    ownerId: 't',
    currency: 'USD',
    amount: 9e6,
    spent: 2e6,
  } as const;
  expect(describeBudget({ ...budget, held: 3e6 })).toBe(
    `budget of everything: ${usd(9e6)}, ${usd(4e6)} left, ${usd(3e6)} held`,
  );
  expect(describeBudget({ ...budget, held: 0 })).not.toContain('held');
});

test('a wallet without a limit says so, whosever it is', () => {
  const account = { owner: 'p', currency: 'USD', balance: 0, held: 0, unlimited: true } as const;
  expect(describeAccount({ ...account, kind: 'project' })).toContain('(no limit)');
  expect(describeAccount({ ...account, kind: 'provider' })).not.toContain('(no limit)');
});

test('the columns of a report are straight, and one call is one call', () => {
  const none = { calls: 0, usd: 0, tokens: 0 };
  const lines = describeReport({
    session: 's',
    preflight: none,
    searches: none,
    askedForSources: none,
    total: 12.5,
    tokens: 123_457,
    calls: [],
    byStage: [{ stage: 'a', calls: 1, usd: 0.0001, tokens: 1 }],
    byModel: [{ model: `provider/${'x'.repeat(60)}`, calls: 1_000, usd: 12.5, tokens: 123_456 }],
    byDocument: [{ document: 'b', lane: 1, calls: 12, usd: 1, tokens: 99 }],
    retries: { ...none, unanswered: 1 },
    continuation: none,
    compression: none,
    estimated: { ...none, calls: 1 },
    cachedInputSaved: 0,
    unknownPrices: [],
    holds: [],
  } as unknown as Parameters<typeof describeReport>[0]);
  const rows = lines.filter((line) => / calls? .* tokens? /.test(line));
  expect(rows).toHaveLength(6);
  expect(new Set(rows.map((row) => row.length)).size).toBe(1);
  expect(new Set(rows.map((row) => row.search(/ calls? /))).size).toBe(1);
  const text = lines.join('\n');
  expect(text).toContain('1 call  ');
  expect(text).toContain('1 request brought nothing');
  expect(text).toContain('1 call, $0.0000.');
  expect(text).not.toMatch(/\b1 (calls|tokens|requests)\b/);
});
