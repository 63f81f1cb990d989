import { createRequire } from 'node:module';

/** Where text goes: a terminal has a width, a file or a pipe has none. */
export type TextOutput = { readonly isTTY?: boolean; readonly columns?: number };

const require = createRequire(import.meta.url);

/** Letters of Europe, dashes, dots, arrows and ticks: what our own lines are made of, a cell each. */
const NARROW = /^[ -~\u00a0-\u02ff\u2010-\u2027\u2190-\u21ff\u25b8\u2713\u2717]*$/;

/**
 * How many cells of a terminal a text takes. The package that knows emoji and East Asian letters takes
 * a twentieth of a second to load, which a command whose output has none need not wait for.
 */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  const loaded = require('string-width') as { readonly default: (text: string) => number };
  return loaded.default(text);
}

/** The width of a terminal's window; undefined where there is none, and nothing is wrapped. */
export const widthOfWindow = (output: TextOutput): number | undefined =>
  output.isTTY ? output.columns || 80 : undefined;

/**
 * A command that is announced by a colon or stands in backticks, to the end of its sentence; any other
 * with its verb alone. Sentences follow commands, and parentheses explain them.
 */
const COMMAND = [
  /dialectic (?<=(?:[:;] |^ *)dialectic )[^\n]*?(?=[.;,]?(?:$|[.;,] | \())/,
  /`dialectic [^`\n]+`/,
  /\bdialectic [a-z]+/,
]
  .map(({ source }) => source)
  .join('|');
/** An address, or a path that shows itself by its slashes; folders may have a space in their names. */
const PLACE = /\b[a-z]{2,12}:\/\/\S+|(?<![^\s(`"'])(?:~|\.{1,2})?\/[^\s/]\S*(?: [^\s/]+\/\S*)*/
  .source;
const UNIT = new RegExp(`(?<command>${COMMAND})|(?<place>${PLACE})|\\S+`, 'gm');

/** Spaces, a bullet or a first column: what follows it is kept in line below each other. */
const HANGING = /^\s*(?:(?:[-*>✓✗↻!·|]|\d+[.)]) +|\S+ {2,})?/u;

/** Paragraphs of Markdown and of our own, each line of it wrapped; code stays as it is. */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  let isCode = false;
  return text
    .split('\n')
    .flatMap((line) => {
      const isFence = line.trimStart().startsWith('```');
      if (isFence) isCode = !isCode;
      return isCode || isFence ? [line] : wrapLine(line, columns);
    })
    .join('\n');
}

/**
 * A line in pieces that fit into a window, broken between words. A command, a path or an address is
 * never broken, so that it can be copied: where it does not fit it begins a line, a command alone.
 */
export function wrapLine(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const [indent = ''] = /^\s*/.exec(line) ?? [];
  const [column = ''] = HANGING.exec(line) ?? [];
  // A first column that takes most of the window leaves too little room below the second.
  const isWide = widthOf(column) > columns * 0.55;
  const start = isWide ? indent : column;
  const hang = ' '.repeat(widthOf(start) + (isWide ? 2 : 0));
  const lines: string[] = [];
  let current = start;
  let isOpen = false;
  const end = (): void => {
    lines.push(current.trimEnd());
    current = hang;
    isOpen = false;
  };
  for (const { text, gap, isCommand } of readUnits(line.trimEnd().slice(start.length))) {
    const fits = widthOf(current) + (isOpen ? gap.length : 0) + widthOf(text) <= columns;
    if (isOpen && !fits) end();
    // A command that the indentation alone would break stands at the left edge.
    if (isCommand && !isOpen && widthOf(current) + widthOf(text) > columns) current = '';
    // The full stop behind a command that has a line of its own would be copied with it.
    current += `${isOpen ? gap : ''}${isCommand && !fits ? text.replace(/[.;,]$/, '') : text}`;
    isOpen = true;
    if (isCommand && !fits) end();
  }
  if (isOpen) end();
  const trailing = line.slice(line.trimEnd().length);
  return lines.length === 0 ? [line] : [...lines.slice(0, -1), `${lines.at(-1)}${trailing}`];
}

type Unit = { readonly text: string; readonly gap: string; readonly isCommand: boolean };

/** Words, and what must not be broken, each with the spaces before it and its punctuation. */
function readUnits(line: string): Unit[] {
  const units: Unit[] = [];
  let at = 0;
  for (const { 0: text, index, groups } of line.matchAll(UNIT)) {
    const gap = line.slice(at, index);
    at = index + text.length;
    const before = units.at(-1);
    // Punctuation behind a command or a path, and brackets before one, belong to it.
    if (gap === '' && before) {
      const isCommand = before.isCommand || groups?.['command'] !== undefined;
      units[units.length - 1] = { text: before.text + text, gap: before.gap, isCommand };
    } else units.push({ text, gap, isCommand: groups?.['command'] !== undefined });
  }
  return units;
}
