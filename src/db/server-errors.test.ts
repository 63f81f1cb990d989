import { expect, test } from 'vitest';
import { hideFragments } from '../text/hide-fragments.ts';
import { checkUrl, describeUrl, explainConnecting, passwordsIn } from './server-errors.ts';

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
  expect(describeUrl('postgres://me@db.example.org/plans?password=geheim')).toBe(
    'db.example.org/plans',
  );
});

test.each([
  'postgres://me@/plans?host=/run/postgresql',
  'postgresql://me:geheim@/plans?host=%2Frun%2Fpostgresql&port=6543',
  'postgres:///plans?host=/run/postgresql&user=me&password=geheim',
  'postgres://me@%2Frun%2Fpostgresql/plans',
])('the socket in %s is an address', (url) => {
  expect(checkUrl(url)).toBe(url);
  expect(describeUrl(url)).toBe('plans at /run/postgresql');
});

test.each([
  'postgres://me@/plans#x?host=/run',
  'postgres://me@:port/plans',
  'postgres://me:a/b@host/plans',
  'http://me@/plans?host=/run',
])('%s is none', (url) => expect(() => checkUrl(url)).toThrow('DATABASE_URL'));

test.each([
  'postgres://me:ge%40heim-42@host/plans',
  'postgres://me@host/plans?password=ge%40heim-42',
])('the password in %s is hidden where a server repeats it', (url) => {
  const hide = hideFragments(passwordsIn(url));
  const error = explainConnecting(failure('28P01', 'no GE@HEIM-42, nor ge%40heim-42'), hide);
  expect(error.message).toBe('The database server refused: no [key], nor [key]');
});

test.each([
  'postgres://postgres:postgres@host/plans',
  'postgres://me:debates@host/debates',
  'postgres://debates@host/plans?password=DeBates',
  'postgres://host/plans?user=debates&password=debates',
  'postgres://me:d%65bates@/debates?host=/run/postgresql',
])('a password that is the name of the login or of the database is no secret: %s', (url) => {
  const said = 'user "postgres" or "debates"; database "debates-plans" does not exist';
  const hide = hideFragments(passwordsIn(url));
  const { message } = explainConnecting(failure('3D000', said), hide);
  expect(message).toBe(`The database server refused: ${said}`);
});

test('a password that only begins with the name of the login is hidden', () => {
  const hide = hideFragments(passwordsIn('postgres://debates:debates-42-x@host/plans'));
  expect(hide('no debates-42-x')).toBe('no [key]');
});
