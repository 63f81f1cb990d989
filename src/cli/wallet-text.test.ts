import { expect, test } from 'vitest';
import { formatAmount } from '../wallet/amounts.ts';
import { describeAccount, describeBudget } from './wallet-text.ts';

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
