/** What each exit code of the program says; no error can end it with another one. */
export const EXIT_CODES = {
  0: 'done, or at the gate that was asked for (`--until`, `--approve`, `--ask`)',
  1: 'a bug',
  2: 'wrong usage',
  3: 'storage',
  4: 'not allowed',
  5: 'not found or in conflict',
  6: 'the model or its provider',
  7: 'not finished: the run was stopped, failed, was cancelled or is paused',
} as const;

/** The exit codes of failures. */
export type ExitCode = Exclude<keyof typeof EXIT_CODES, 0>;

/** What the table says about one code. */
export type ErrorCodeEntry = {
  readonly meaning: string;
  readonly action: string;
  readonly exitCode: ExitCode;
  readonly httpStatus: number;
  readonly retryable: boolean;
};

/** One line of the table. */
export const entry = (
  exitCode: ExitCode,
  httpStatus: number,
  retryable: boolean,
  meaning: string,
  action: string,
): ErrorCodeEntry => ({ meaning, action, exitCode, httpStatus, retryable });
