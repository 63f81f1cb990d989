import { DialecticError } from '../errors/errors.ts';

/**
 * What a project may have of sources, in characters of text. A run with just as much is carried by
 * test/sources/greatest-sources.long.test.ts: raise the one only with the other.
 */
export const SOURCE_LIMITS = { each: 10_000_000, together: 50_000_000 };

/** How long a text is, in characters. */
export const lengthOf = (excerpts: readonly string[]): number =>
  excerpts.reduce((sum, { length }) => sum + length, 0);

/** The error of a source that is too long by itself. */
export const tooLong = (title: string, characters: number): DialecticError =>
  new DialecticError(
    'file_too_large',
    `${title} has ${tell(characters)} characters of text; a source may have ${tell(SOURCE_LIMITS.each)}. ` +
      'Split it, or name the part that matters.',
  );

/** The error of sources that are too long together; `title` is the first that has no room. */
export const tooMuch = (title: string, characters: number): DialecticError =>
  new DialecticError(
    'file_too_large',
    `With ${title} the sources have ${tell(characters)} characters of text together; a project may ` +
      `have ${tell(SOURCE_LIMITS.together)}. Leave some out, or give the rest to a project of its own.`,
  );

const tell = (count: number): string => count.toLocaleString('en-US');
