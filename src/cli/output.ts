import { type DialecticError, toDialecticError } from '../platform/errors.ts';

/** Results go to stdout: as JSON where the caller asked for it, else as lines for people. */
export function printResult(json: boolean, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
}

/** Tells what went wrong and what to do, and leaves with the code's exit status. */
export function reportFailure(thrown: unknown, json: boolean): void {
  const error = toDialecticError(thrown);
  process.stderr.write(json ? `${JSON.stringify({ error })}\n` : describeFailure(error));
  process.exitCode = error.exitCode;
}

function describeFailure(error: DialecticError): string {
  const trace = error.code === 'internal_error' ? `${(error.cause as Error)?.stack ?? ''}\n` : '';
  return `dialectic: ${error.message}\n  ${error.action} (${error.code})\n${trace}`;
}
