import { describe, expect, test } from 'vitest';
import { RECORD_READERS } from './read-records.ts';

const { work_items, demands, costs, people, decisions, findings } = RECORD_READERS;

describe('a work item', () => {
  test('is read from what models write', () => {
    const raw = {
      id: 'W4',
      title: 'Print the page',
      owner: 'the bakers and the developer',
      effort_low: '30 min',
      effort_high: '1.5 h',
      earliest_week: 'week 3',
      cost: '€1,200',
      needs: 'W1, W2',
      demands: ['D1'],
      findings: 'none',
    };
    expect(work_items(raw)).toEqual({
      id: 'W4',
      title: 'Print the page',
      owners: ['the bakers', 'the developer'],
      effort: { low: 0.5, high: 1.5 },
      earliestWeek: 3,
      cost: 1_200,
      needs: ['W1', 'W2'],
      demands: ['D1'],
      findings: [],
      doneWhen: '',
      unread: {},
    });
  });

  test('keeps the words that it cannot read', () => {
    const raw = { id: 'W4', effort_low: 'a few days', earliest_week: 'soon', cost: 'unclear' };
    expect(work_items(raw)).toMatchObject({ effort: null, earliestWeek: null, cost: null });
    expect(work_items(raw).unread).toEqual({
      effort: 'a few days',
      earliest_week: 'soon',
      cost: 'unclear',
    });
    expect(work_items({ id: 'W4' })).toMatchObject({ effort: null, cost: null, unread: {} });
  });

  test.each([
    [{ effort: '8-12 h' }, 8, 12],
    [{ effort_low: 8 }, 8, 8],
    [{ effort_low: '1', effort_high: '2 days' }, 1, 16],
    [{ effort_low: 1, effort_high: 2, effort_unit: 'days' }, 8, 16],
  ])('has its effort in hours: %j', (raw, low, high) => {
    expect(work_items(raw).effort).toEqual({ low, high });
  });

  test('costs nothing where it says so', () => {
    expect(work_items({ cost: 'none' }).cost).toBe(0);
    expect(work_items({ cost: 0 }).cost).toBe(0);
  });
});

test.each([
  [
    { id: 'D5', kind: 'limit', measure: 'money', amount: 15_000, unit: 'euros', per: 'first year' },
    { kind: 'limit', measure: 'money', amount: 15_000, unit: 'EUR', per: 'year' },
  ],
  [
    { id: 'D7', measure: 'effort', amount: '1 hour a week', who: 'The bakers' },
    { kind: 'limit', measure: 'effort', amount: 1, unit: 'hours', per: 'week', who: 'The bakers' },
  ],
  [{ amount: '€20/month' }, { kind: 'limit', measure: 'money', unit: 'EUR', per: 'month' }],
  [
    { measure: 'date', text: 'Live by 2026-12-01' },
    { kind: 'demand', day: '2026-12-01' },
  ],
  [
    { kind: 'demand', text: 'Under a minute' },
    { kind: 'demand', measure: 'other', amount: null },
  ],
])('a demand is read: %j', (raw, expected) => {
  expect(demands(raw)).toMatchObject(expected);
});

test('costs, people, findings and decisions are read', () => {
  expect(costs({ item: 'Hosting', amount: '€20 per month', months: '12' })).toEqual({
    item: 'Hosting',
    amount: 20,
    currency: 'EUR',
    period: 'month',
    months: 12,
  });
  expect(costs({ item: 'Printer', amount: 180, currency: 'euro' })).toMatchObject({
    currency: 'EUR',
    period: 'once',
    months: null,
  });
  expect(people({ name: 'Developer', hours_per_week: '20 h', from_week: 'week 2' })).toEqual({
    name: 'Developer',
    hoursPerWeek: 20,
    fromWeek: 2,
    toWeek: null,
    daysOff: [],
    pay: null,
  });
  expect(findings({ id: 'F1', weight: 'Critical' }).weight).toBe('heavy');
  expect(decisions({ finding: 'F1, F2', decision: 'Taken up' })).toMatchObject({
    findings: ['F1', 'F2'],
    decision: 'taken_up',
  });
  expect(decisions({ finding: 'F1', decision: 'not taken up' }).decision).toBe('rejected');
});
