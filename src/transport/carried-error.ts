import { DialecticError, isErrorCode, toDialecticError } from '../errors/errors.ts';

/** An error as it goes over a connection. */
export type CarriedError = {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly action: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** Where a bug was thrown, for its report; null for errors that the program expects. */
  readonly stack: string | null;
};

/** What was thrown, ready to be sent. */
export function packError(thrown: unknown): CarriedError {
  const { code, message, retryable, action, details, cause } = toDialecticError(thrown);
  const stack = code === 'internal_error' && cause instanceof Error ? cause.stack : undefined;
  return { code, message, retryable, action, details, stack: stack ?? null };
}

/** The error that the other process threw. */
export function unpackError(carried: CarriedError): DialecticError {
  const { code, message, retryable, action, details, stack } = carried;
  if (!isErrorCode(code)) return new DialecticError('internal_error', `${message} (${code})`);
  const cause = stack === null ? undefined : Object.assign(new Error(message), { stack });
  return new DialecticError(code, message, { retryable, action, details, cause });
}
