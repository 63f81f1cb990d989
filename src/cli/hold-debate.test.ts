import { expect, test } from 'vitest';
import { SharedBudget } from './hold-debate.ts';

const usage = (costUsd: number | null, tokens: number) => ({
  costUsd,
  inputTokens: tokens - 10,
  outputTokens: 10,
});

test('each debate gets what those before it have left', () => {
  const budget = new SharedBudget({ usd: '10', tokens: '5_000' });
  expect(budget.capsOf()).toEqual({ usd: '10.000000', tokens: '5000' });
  budget.use(usage(2.5, 1_000));
  budget.use(usage(4.000001, 2_000));
  expect(budget.capsOf()).toEqual({ usd: '3.499999', tokens: '2000' });
});

test('a debate that goes on may use what is left beside what it had used before', () => {
  const budget = new SharedBudget({ usd: '3' });
  budget.use(usage(1, 100));
  expect(budget.capsOf(usage(7, 700))).toEqual({ usd: '9.000000' });
  budget.use(usage(8.5, 900), usage(7, 700));
  expect(budget.capsOf()).toEqual({ usd: '0.500000' });
});

test('nothing is left below zero, and what was not given limits nothing', () => {
  const budget = new SharedBudget({ usd: '1' });
  budget.use(usage(2, 100));
  expect(budget.capsOf()).toEqual({ usd: '0.000000' });
  const unlimited = new SharedBudget({});
  unlimited.use(usage(null, 100));
  expect(unlimited.capsOf()).toEqual({});
});
