import pg from 'pg';
import { DialecticError, isErrorCode } from '../errors/errors.ts';

/** What a person can make of the values that PostgreSQL refuses, by its code. */
const REFUSED_VALUES: Readonly<Record<string, string>> = {
  '22021': 'a text holds NUL, which no text may hold',
  '22P05': 'a text holds NUL, which no text may hold',
  '22P02': 'an id, a number or a text is malformed',
  '22003': 'a number is too large',
  '22001': 'a text is too long',
  '54000': 'a text is too long',
};

/** Turns what PostgreSQL says into a coded error; its own words may name rows and are left out. */
export function explainStatement(error: Error): Error {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = '', hint, constraint } = error;
  if (code === 'DX000') {
    // Our own functions raise with a code of the table as their hint.
    const known = isErrorCode(hint) ? hint : 'internal_error';
    return new DialecticError(known, error.message, { cause: error });
  }
  if (code === '42501') return new DialecticError('access_denied', error.message, { cause: error });
  if (code === '40001' || code === '40P01') {
    return new DialecticError('conflict', error.message, { cause: error, retryable: true });
  }
  if (code.startsWith('23')) {
    const message = `The change breaks the rule ${constraint ?? code}; nothing of it was saved.`;
    return new DialecticError('conflict', message, { cause: error, details: { constraint } });
  }
  return /^(22|54)/.test(code) ? refusedValue(code, error) : error;
}

/** The error of a value that PostgreSQL refuses with this code. */
export function refusedValue(code: string, cause?: Error): DialecticError {
  const why = REFUSED_VALUES[code] ?? `a value does not fit (${code})`;
  const message = `The database refused what was given: ${why}.`;
  return new DialecticError('value_refused', message, {
    ...(cause && { cause }),
    details: { sqlState: code },
  });
}
