import type { SourceDraft } from '../../src/sources/source.ts';

const WORDS = 120;
const VOCABULARY = 20_000;

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A text of its own for each number; a share of its words may be replaced. */
export function textOf(number: number, replaced = 0): string {
  const chance = chanceOf(number);
  const other = chanceOf(number + 0x5eed);
  const words: string[] = [];
  for (let at = 0; at < WORDS; at++) {
    const word = Math.floor(chance() ** 2 * VOCABULARY);
    words.push(`w${(other() < replaced ? word + 7_919 : word).toString(36)}`);
  }
  return words.join(' ');
}

/** What a search finds: 70 % new, 20 % other addresses of known sources, 10 % nearly known texts. */
export function draftOf(number: number, chance: () => number): SourceDraft {
  const kind = chance();
  const earlier = Math.floor(chance() * number);
  if (number > 0 && kind < 0.2) {
    const url = `http://www.example-${earlier % 997}.org/papers/${earlier}/?utm_source=feed`;
    return { title: `Paper ${earlier}`, url, excerpts: [textOf(earlier)] };
  }
  const isNear = number > 0 && kind < 0.3;
  const text = isNear ? textOf(earlier, 0.02) : textOf(number);
  const url = `https://example-${number % 997}.org/papers/${number}`;
  return { title: `Paper ${number}`, url, publisher: 'Example', year: 2024, excerpts: [text] };
}

/** A report of so many citations, with code and tables, about as long as people write them. */
export function reportOf(citations: number): string {
  const lines = ['# Report', ''];
  for (let at = 1; at <= citations; at++) {
    lines.push(
      `Statement ${at} holds for ${at * 10} people in most of the places that we saw [S${at}].`,
    );
    if (at % 10 === 0) lines.push('', '```', `[S${at}] is code`, '```', '', `## Part ${at}`, '');
    if (at % 25 === 0) lines.push('| a | b |', '|---|---|', `| \`[S1]\` | ${at} [S${at}] |`, '');
  }
  return `${lines.join('\n')}\n`;
}
