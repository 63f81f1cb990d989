import { createRequire } from 'node:module';
import pg from 'pg';

/** The conversion of node-postgres itself, which it does not export. */
const { prepareValue } = createRequire(import.meta.url)('pg/lib/utils.js') as {
  readonly prepareValue: (value: unknown) => string | number | boolean | Buffer | null;
};

/**
 * A statement with its parameters as literals, for the protocol that takes several statements at
 * once. Values are turned to text as for parameters; the server takes a literal without a type for
 * what its place asks for, as it does a parameter.
 */
export const withLiterals = (text: string, values: readonly unknown[]): string =>
  text.replace(/\$(\d+)/g, (_whole, number: string) => toLiteral(values[Number(number) - 1]));

function toLiteral(value: unknown): string {
  const prepared = prepareValue(value);
  if (prepared === null) return 'null';
  return Buffer.isBuffer(prepared)
    ? `'\\x${prepared.toString('hex')}'`
    : pg.escapeLiteral(String(prepared));
}
