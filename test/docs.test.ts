import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../src/errors/error-code.ts';
import { ERROR_CODES } from '../src/errors/error-codes.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const errorsHead = (exitCodes: string): string => `# Errors

Every failure that leaves the program has one of these codes: on the command line behind the
message, over HTTP as the problem's \`code\`. The table is the one in \`src/errors/error-codes.ts\`.

With \`--json\` stdout holds one JSON value, the result, and nothing else; it is empty where a
command fails before it has one. The last line of stderr is then
\`{"error": {"code", "message", "action", "retryable", "details"}}\`, for wrong options, too.
Progress goes to stderr. A reader that closes the pipe (\`dialectic list | head -1\`) does not make
a command fail.

Exit codes:

${exitCodes}
A process that a signal ends has 128 and the signal's number: 130 for SIGINT, 143 for SIGTERM.

| code | meaning | what to do | exit | HTTP | worth a retry |
|---|---|---|---|---|---|
`;

// `npx vitest run test/docs.test.ts -u` writes the file anew.
test('docs/errors.md holds the tables of error and exit codes', async () => {
  const exits = Object.entries(EXIT_CODES).map(([code, meaning]) => `- ${code}: ${meaning}\n`);
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { meaning, action, exitCode, httpStatus, retryable }]) =>
      `| \`${code}\` | ${meaning} | ${action} | ${exitCode} | ${httpStatus} | ` +
      `${retryable ? 'yes' : 'no'} |\n`,
  );
  await expect(errorsHead(exits.join('')) + rows.join('')).toMatchFileSnapshot('../docs/errors.md');
});

test('the README gives the two commands', () => {
  expect(read('README.md')).toContain('npm ci && npm run demo');
  expect(read('README.md')).toContain('npm ci && npm test');
});
