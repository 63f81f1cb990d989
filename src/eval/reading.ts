/** One text as a reader gets it; its name tells nothing about who wrote it. */
export type ReadFile = { readonly name: string; readonly text: string };

/** What a reader gets of a folder, in the order of reading, and how long that takes. */
export type Reading = {
  readonly files: readonly ReadFile[];
  readonly words: number;
  readonly minutes: number;
};

/** Plans are read more slowly than novels (about 240 words a minute). */
const WORDS_PER_MINUTE = 220;

/** Measures texts; front matter is gone by then. */
export function measureReading(files: readonly ReadFile[]): Reading {
  const words = files.reduce((sum, { text }) => sum + countWords(text), 0);
  return { files, words, minutes: Math.ceil(words / WORDS_PER_MINUTE) };
}

/** Whatever stands between blanks and holds a letter or a digit: rules and table lines do not. */
const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
