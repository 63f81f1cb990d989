import type { ExitCode } from './error-code.ts';
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';

/** What a caller may add to an error beside its code and message. */
export type ErrorOptions = {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
  /** Overrides the table in error-codes.ts, for example when a fault turns out to be permanent. */
  readonly retryable?: boolean;
  /** What helps in this case, where the table's advice for the code would mislead. */
  readonly action?: string;
};

/** An error as JSON has it. */
export type ErrorData = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly action: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
};

/** The one error class of the project: a stable code, a message for people, details for code. */
export class DialecticError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
  /** What the person who reads the message can do about it. */
  readonly action: string;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DialecticError';
    this.code = code;
    this.retryable = options.retryable ?? ERROR_CODES[code].retryable;
    this.details = options.details ?? {};
    this.action = options.action ?? ERROR_CODES[code].action;
  }

  get exitCode(): ExitCode {
    return ERROR_CODES[this.code].exitCode;
  }

  get httpStatus(): number {
    return ERROR_CODES[this.code].httpStatus;
  }

  toJSON(): ErrorData {
    return {
      code: this.code,
      message: this.message,
      action: this.action,
      retryable: this.retryable,
      details: this.details,
    };
  }
}

/** Whether a text from outside, a database function for example, is a code of the table. */
export const isErrorCode = (text: string | undefined): text is ErrorCode =>
  text !== undefined && Object.hasOwn(ERROR_CODES, text);

/** The same error with more to say to programs. */
export function withDetails(
  error: DialecticError,
  details: Readonly<Record<string, unknown>>,
): DialecticError {
  const { code, message, cause, retryable, action } = error;
  return new DialecticError(code, message, {
    cause,
    retryable,
    action,
    details: { ...error.details, ...details },
  });
}

/** Wraps whatever was thrown; an error that carries a code keeps it. */
export function toDialecticError(thrown: unknown): DialecticError {
  if (thrown instanceof DialecticError) return thrown;
  return new DialecticError('internal_error', messageOf(thrown), { cause: thrown });
}

/** What was thrown says, be it an error or not. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The code that Node or PostgreSQL gave an error; empty where it has none. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
