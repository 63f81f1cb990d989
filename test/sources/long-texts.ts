/** Syllables of which words are made: no word of them is one of a question. */
const SYLLABLES = ['ba', 'ke', 'ri', 'lo', 'mun', 'ter', 'sa', 'vi', 'den', 'por', 'cal', 'ne'];

/** Numbers from 0 to 1 that a seed fixes (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A text of so many characters in headings, paragraphs and sentences, whose words are as rare as those
 * of a language, with some sentences in its middle.
 */
export function longText(characters: number, seed: number, middle = ''): string {
  const chance = chanceOf(seed);
  const words = Array.from({ length: 10_000 }, (_, at) => {
    let word = '';
    for (let left = at + 13; left > 0; left = Math.floor(left / 12)) word += SYLLABLES[left % 12]!;
    return word;
  });
  const word = (): string => words[Math.floor(words.length ** chance()) - 1] ?? 'sa';
  const write = (length: number): string => {
    const parts: string[] = [];
    for (let size = 0; size < length; size += parts.at(-1)!.length) {
      const sentences = Array.from({ length: 5 }, () =>
        Array.from({ length: 8 + Math.floor(chance() * 12) }, word).join(' '),
      );
      const head = parts.length % 12 === 0 ? `## ${word()} ${parts.length}\n\n` : '';
      parts.push(`${head}${sentences.join('. ')}.\n\n`);
    }
    return parts.join('').slice(0, length);
  };
  const own = middle === '' ? '' : `\n\n${middle}\n\n`;
  const half = Math.floor((characters - own.length) / 2);
  return `${write(half)}${own}${write(characters - own.length - half)}`;
}
