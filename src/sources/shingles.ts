/** How many words in a row are compared. */
const RUN = 3;

let room = new Uint32Array(1 << 12);

/**
 * The hashes of all runs of three words, in order, in an array that the next call uses again. Case,
 * punctuation and white space make no difference.
 */
export function shingles(text: string): Uint32Array {
  if (room.length <= text.length) room = new Uint32Array(text.length * 2);
  const found = room;
  let [first, second, word] = [0, 0, 0];
  let [words, count] = [0, 0];
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? LETTERS[text.charCodeAt(at)]! : 0;
    if (code !== 0) {
      word = Math.imul(word ^ code, 0x01000193);
      if (word === 0) word = code;
      continue;
    }
    if (word === 0) continue;
    if (++words >= RUN)
      found[count++] = mix(mix(first ^ 0x9e3779b9) ^ mix(second + 0x7f4a7c15) ^ word);
    first = second;
    second = word;
    word = 0;
  }
  // A text of one or two words has itself as its only run.
  if (count === 0 && words > 0) found[count++] = mix(mix(first ^ 0x9e3779b9) ^ second);
  return found.subarray(0, count);
}

/** What `letterOf` gives for each code unit: a look into a table takes half the time. */
const LETTERS = Uint16Array.from({ length: 1 << 16 }, (_, code) => letterOf(code));

/** The letter or digit in lower case; 0 for what divides words. Other scripts count as letters. */
function letterOf(code: number): number {
  if (code >= 97 && code <= 122) return code;
  if (code >= 65 && code <= 90) return code + 32;
  if (code >= 48 && code <= 57) return code;
  return code < 128 || (code >= 0x2000 && code <= 0x206f) || code === 0xa0 ? 0 : code;
}

/** Spreads the bits of a number over the whole of it (the finaliser of MurmurHash3). */
export function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Which share of all their runs two texts have in common (Jaccard); 1 = the same words. */
export const likenessOf = (one: string, other: string): number => compareWith(one)(other);

/** The same for one text and many others. */
export function compareWith(one: string): (other: string) => number {
  const mine = distinctRuns(one);
  return (other) => {
    const theirs = distinctRuns(other);
    let [common, at] = [0, 0];
    for (const run of mine) {
      while (theirs[at]! < run) at++;
      if (theirs[at] === run) common++;
    }
    const all = mine.length + theirs.length - common;
    return all === 0 ? 0 : common / all;
  };
}

/** Sorted, each once: two such lists are compared in one pass, in a third of the time of two sets. */
function distinctRuns(text: string): Uint32Array {
  const runs = shingles(text).toSorted();
  let count = 0;
  for (const run of runs) if (count === 0 || run !== runs[count - 1]) runs[count++] = run;
  return runs.subarray(0, count);
}
