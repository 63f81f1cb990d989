/** One text as a reader gets it; its name tells nothing about who wrote it. */
export type ReadFile = { readonly name: string; readonly text: string };

/** What a reader gets of a folder, in the order of reading, and how long that takes. */
export type Reading = {
  readonly files: readonly ReadFile[];
  readonly words: number;
  readonly minutes: number;
  /** Share of the lines that stand in another of the files too, from 0 to 1. */
  readonly repeated: number;
};

/** Plans are read more slowly than novels (about 240 words a minute). */
const WORDS_PER_MINUTE = 220;

/** Measures texts; front matter is gone by then. */
export function measureReading(files: readonly ReadFile[]): Reading {
  const words = files.reduce((sum, { text }) => sum + countWords(text), 0);
  const minutes = Math.ceil(words / WORDS_PER_MINUTE);
  return { files, words, minutes, repeated: shareRepeated(files) };
}

/** Lines of a few words and table heads say nothing twice. */
const SHORTEST_LINE = 6;

function shareRepeated(files: readonly ReadFile[]): number {
  const lines = files.map(({ text }) =>
    text
      .split('\n')
      .map((line) => line.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim())
      .filter((line) => countWords(line) >= SHORTEST_LINE),
  );
  const holders = new Map<string, Set<number>>();
  for (const [file, own] of lines.entries()) {
    for (const line of own) holders.set(line, (holders.get(line) ?? new Set()).add(file));
  }
  const all = lines.flat();
  const repeated = all.filter((line) => holders.get(line)!.size > 1);
  return all.length === 0 ? 0 : repeated.length / all.length;
}

/** Whatever stands between blanks and holds a letter or a digit: rules and table lines do not. */
const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
