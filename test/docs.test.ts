import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../src/platform/error-codes.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

test('docs/errors.md holds the table of error codes', async () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { meaning, action, exitCode, httpStatus, retryable }]) =>
      `| \`${code}\` | ${meaning} | ${action} | ${exitCode} | ${httpStatus} | ${retryable ? 'yes' : 'no'} |`,
  );
  const table = [
    '| code | meaning | what to do | exit | HTTP | worth a retry |',
    '|---|---|---|---|---|---|',
  ];
  const text = read('docs/errors.md').split('\n');
  const start = text.indexOf(table[0]!);
  expect(text.slice(start, start + rows.length + 3)).toEqual([...table, ...rows, '']);
});

test('the README gives the two commands', () => {
  expect(read('README.md')).toContain('npm ci && npm run demo');
  expect(read('README.md')).toContain('npm ci && npm test');
});
