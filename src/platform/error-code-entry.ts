/** What is said of a code: to people, to the shell, over HTTP, and whether to try again. */
export type ErrorCodeEntry = {
  readonly meaning: string;
  readonly action: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly retryable: boolean;
};

/** A row of the table of error codes. */
export const entry = (
  exitCode: number,
  httpStatus: number,
  retryable: boolean,
  meaning: string,
  action: string,
): ErrorCodeEntry => ({ meaning, action, exitCode, httpStatus, retryable });
