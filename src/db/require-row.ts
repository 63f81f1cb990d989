import { DialecticError } from '../errors/errors.ts';

/** The first row of a statement that always gives one. */
export function requireRow<Row>([row]: readonly Row[], text: string): Row {
  if (row !== undefined) return row;
  const message = 'A statement that always gives a row gave none.';
  throw new DialecticError('internal_error', message, { cause: new Error(text) });
}
