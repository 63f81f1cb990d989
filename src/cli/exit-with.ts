import type { EXIT_CODES } from '../errors/error-code.ts';

/** Lets the process end with this code once its work is done; the table is in docs/errors.md. */
export function exitWith(code: keyof typeof EXIT_CODES): void {
  process.exitCode = code;
}
