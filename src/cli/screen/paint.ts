import { styleText } from 'node:util';
import { withoutControls } from '../../text/clean-text.ts';

export type Style = Parameters<typeof styleText>[0];

/** A piece of a line: plain, or in a style. */
export type Part = string | { readonly text: string; readonly style: Style };
export type Line = readonly Part[];

/** Where lines go: standard error, which is a terminal or not. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export const styled = (style: Style, text: string): Part => ({ style, text });

/** The line in colour, where the output shows colours and neither NO_COLOR nor the user objects. */
export const paint = (line: Line, stream: Output): string =>
  line
    .map((part) => {
      if (typeof part === 'string') return withoutControls(part);
      return styleText(part.style, withoutControls(part.text), { stream });
    })
    .join('');
