/** What the table says about one code. */
export type ErrorCodeEntry = {
  readonly meaning: string;
  readonly action: string;
  readonly exitCode: number;
  readonly httpStatus: number;
  readonly retryable: boolean;
};

/** One line of the table. */
export const entry = (
  exitCode: number,
  httpStatus: number,
  retryable: boolean,
  meaning: string,
  action: string,
): ErrorCodeEntry => ({ meaning, action, exitCode, httpStatus, retryable });
