import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import { reportFailure } from './output.ts';

/**
 * Keeps a closed or full output from ending the process with a stack trace. A reader that has seen
 * enough (`dialectic list | head -1`) closes the pipe: the command goes on to its end, closes the
 * store and succeeds. Any other failure to write the result is reported on stderr.
 */
export function guardStreams(isJson: boolean): void {
  process.stderr.on('error', () => {}); // where nothing can be told, the work still goes on
  process.stdout.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') return;
    const message = `The result could not be written: ${messageOf(error)}.`;
    reportFailure(new DialecticError('output_unwritable', message, { cause: error }), isJson);
  });
}
