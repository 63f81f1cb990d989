import { expect, test } from 'vitest';
import { describeUrl, explainConnecting } from './server-errors.ts';

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

test('a host with several addresses is away for the reason of the first', () => {
  const inner = failure('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432');
  const error = Object.assign(new AggregateError([inner], ''), { code: 'ECONNREFUSED' });
  const explained = explainConnecting(error);
  expect(explained).toMatchObject({ code: 'database_unreachable', retryable: true });
  expect(explained.message).toContain('connect ECONNREFUSED ::1:5432');
});

test.each([
  ['53300', 'sorry, too many clients already', 'database_busy', true],
  ['57P03', 'the database system is starting up', 'database_unreachable', true],
  ['', 'timeout expired', 'database_unreachable', true],
  ['28P01', 'password authentication failed', 'database_refused', false],
  ['', 'The server does not support SSL connections', 'database_refused', false],
])('%s %s is %s', (sqlState, message, code, retryable) => {
  expect(explainConnecting(failure(sqlState, message))).toMatchObject({ code, retryable });
});

test('an address is named without its user and password', () => {
  expect(describeUrl('postgres://me:geheim@db.example.org:6543/plans?x=1')).toBe(
    'db.example.org:6543/plans',
  );
  expect(describeUrl('postgres:///plans')).toBe('localhost/plans');
});
