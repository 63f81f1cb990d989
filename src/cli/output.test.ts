import { expect, test, vi } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { reportFailure } from './output.ts';

/** What a failure prints, with its exit code. */
function report(error: DialecticError) {
  const exitCode = process.exitCode;
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    reportFailure(error, false);
    return { printed: write.mock.calls.join(''), code: process.exitCode };
  } finally {
    write.mockRestore();
    process.exitCode = exitCode;
  }
}

test('a failure is told with what to do, its code and its exit code', () => {
  const { printed, code } = report(new DialecticError('not_found', 'There is no session x.'));
  expect(printed).toBe(
    'dialectic: There is no session x.\n  Check the id; `dialectic list` shows what there is. (not_found)\n',
  );
  expect(code).toBe(5);
});

test('advice is not given twice', () => {
  const message = 'Stopped. Go on with: dialectic resume 1';
  expect(report(new DialecticError('run_stopped', message)).printed).toBe(
    `dialectic: ${message} (run_stopped)\n`,
  );
});
