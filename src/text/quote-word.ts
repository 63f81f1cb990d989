import { toLine } from './clean-text.ts';

const PLAIN = /^[\w@%+=:,./-]+$/;

/**
 * A text as one word of a command that a person can copy into a shell: names and ids come from stores,
 * recipes and servers, where one can hold a command of its own.
 */
export function quoteWord(text: string): string {
  const word = toLine(text);
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
