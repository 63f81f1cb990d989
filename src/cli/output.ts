import { type DialecticError, toDialecticError } from '../errors/errors.ts';
import { toLine, toPlainJson, withoutControls } from '../text/clean-text.ts';
import { exitWith } from './exit-with.ts';
import { type TextOutput, widthOfWindow, wrapText } from './wrap-text.ts';

/**
 * Results go to stdout: as JSON where the caller asked for it, else as lines for people. What models,
 * providers and recipes wrote is among them, so that nothing a terminal acts on may pass.
 */
export function printResult(json: boolean, value: unknown, lines: readonly string[]): void {
  const text = json ? toPlainJson(value) : toShown(lines.join('\n'), process.stdout);
  process.stdout.write(`${text}\n`);
}

/**
 * The same for rows of names and figures: each stays one line, whatever a store, a provider or a recipe
 * calls its own. A line break in a name would pass for a row of the program.
 */
export const printRows = (json: boolean, value: unknown, rows: readonly string[]): void =>
  printResult(json, value, rows.map(toLine));

/** The same for a text that other programs read, such as a script or a table: it is never wrapped. */
export function printExactly(json: boolean, value: unknown, lines: readonly string[]): void {
  const text = json ? toPlainJson(value) : withoutControls(lines.join('\n'));
  process.stdout.write(`${text}\n`);
}

/** A text as it may go to a terminal: without what a terminal acts on, wrapped to its window. */
export const toShown = (text: string, output: TextOutput): string =>
  wrapText(withoutControls(text), widthOfWindow(output));

const writeLine = (line: string): void =>
  void process.stderr.write(`${toShown(line, process.stderr)}\n`);
let tellThrough = writeLine;

/** Says something while the work goes on: on stderr, a line at a time. */
export const tell = (line: string): void => tellThrough(line);

/** While a screen is drawn on stderr, lines have to go through it; the returned function ends that. */
export function divertTelling(through: (line: string) => void): () => void {
  tellThrough = through;
  return () => {
    tellThrough = writeLine;
  };
}

/** Tells what went wrong and what to do, and leaves with the code's exit status. */
export function reportFailure(thrown: unknown, json: boolean): void {
  const error = toDialecticError(thrown);
  tell(json ? toPlainJson({ error }) : describeFailure(error));
  exitWith(error.exitCode);
}

function describeFailure(error: DialecticError): string {
  const trace = error.code === 'internal_error' ? `\n${(error.cause as Error)?.stack ?? ''}` : '';
  // A message that ends with the command to use has said what to do.
  const action = /with: dialectic [a-z][^\n]*$/.test(error.message) ? '' : `\n  ${error.action}`;
  return `dialectic: ${error.message}${action} (${error.code})${trace}`;
}
