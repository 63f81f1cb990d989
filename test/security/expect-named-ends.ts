import { expect } from 'vitest';
import { isErrorCode } from '../../src/errors/errors.ts';
import type { fuzzAnswers } from './fuzz-answers.ts';

/** Every document was saved or failed by a code of the table; every answer that came is paid. */
export function expectNamedEnds({ ends, ledger }: Awaited<ReturnType<typeof fuzzAnswers>>): void {
  const unnamed = ends.filter(({ code }) => code !== 'saved' && !isErrorCode(code));
  expect(unnamed).toEqual([]);
  expect(ends.map(({ code }) => code)).not.toContain('internal_error');
  expect(ends.map(({ code }) => code)).toContain('saved');
  expect(ends.length).toBeGreaterThan(3);
  expect(ledger).toEqual({ sum: 0, negative: 0, held: 0, open: 0, unpaid: 0 });
}
