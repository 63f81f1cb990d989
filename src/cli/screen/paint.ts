import { styleText } from 'node:util';
import { withoutControls } from '../../text/clean-text.ts';
import { widthOf, wrapText } from '../wrap-text.ts';

export type Style = Parameters<typeof styleText>[0];

type StyledPart = {
  readonly text: string;
  readonly style: Style;
  /** Whether it gives way in a narrow window: its middle is left out. */
  readonly isPath?: boolean;
};

/** A piece of a line: plain, or in a style. */
export type Part = string | StyledPart;
export type Line = readonly Part[];

/** Where lines go: standard error, which is a terminal or not. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export const styled = (style: Style, text: string): StyledPart => ({ style, text });

/**
 * A line that stays in a window of that width: its path is shortened, else it is broken between words,
 * in one style if it has one.
 */
export function layOut(line: Line, columns: number): Line[] {
  const [first] = line;
  const path = line.find((part) => typeof part !== 'string' && part.isPath === true);
  if (path !== undefined) return [shortenPath(line, path, columns)];
  const text = withoutControls(line.map(textOf).join(''));
  const pieces = wrapText(text, columns).split('\n');
  if (pieces.length === 1 || first === undefined) return [line];
  const isOneStyle = line.length === 1 && typeof first !== 'string';
  return pieces.map((piece) => [isOneStyle ? styled(first.style, piece) : piece]);
}

/** What a path keeps at least, behind a long title: the end of the file's name. */
const LEAST_OF_PATH = 20;

function shortenPath(line: Line, path: Part, columns: number): Line {
  const others = line
    .filter((part) => part !== path)
    .map(textOf)
    .join('');
  const room = Math.max(LEAST_OF_PATH, columns - widthOf(others));
  return line.map((part) =>
    part === path && typeof part !== 'string'
      ? { ...part, text: cutMiddle(part.text, room) }
      : part,
  );
}

/** The beginning and, three times as long, the end of a path that is wider than the room for it. */
function cutMiddle(path: string, width: number): string {
  if (widthOf(path) <= width) return path;
  const units = Array.from(path);
  const start = take(units, Math.floor((width - 1) / 4));
  const rest = take(units.toReversed(), width - 1 - widthOf(start.join('')));
  return `${start.join('')}…${rest.toReversed().join('')}`;
}

/** As many units as fit. */
function take(units: readonly string[], width: number): readonly string[] {
  let used = 0;
  const end = units.findIndex((unit) => (used += widthOf(unit)) > width);
  return units.slice(0, end < 0 ? undefined : end);
}

const textOf = (part: Part): string => (typeof part === 'string' ? part : part.text);

/** The line in colour, where the output shows colours and neither NO_COLOR nor the user objects. */
export const paint = (line: Line, stream: Output): string =>
  line
    .map((part) => {
      if (typeof part === 'string') return withoutControls(part);
      return styleText(part.style, withoutControls(part.text), { stream });
    })
    .join('');
