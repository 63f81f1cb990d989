import { DialecticError } from '../errors/errors.ts';

/** True for JSON objects: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON object where the program can only go on with one, a document's content for example. */
export function requireRecord(value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new DialecticError(
    'internal_error',
    `Expected a JSON object, not ${JSON.stringify(value)}.`,
  );
}
