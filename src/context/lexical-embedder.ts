import { type Embedder, normalise } from './embedder.ts';
import { subjectWords } from './words.ts';

const DIMENSIONS = 512;

/**
 * Vectors from the words of a text alone: texts are alike as far as they share words. It needs no
 * package and no network, and stands in where no sentence-embedding model is installed.
 */
export const lexicalEmbedder: Embedder = {
  model: 'lexical/words-1',
  embed: (texts) => Promise.resolve(texts.map(embedWords)),
};

function embedWords(text: string): Float32Array {
  const counts = new Map<string, number>();
  for (const word of subjectWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const vector = new Float32Array(DIMENSIONS);
  for (const [word, count] of counts) {
    const hash = hashOf(word);
    const at = hash % DIMENSIONS;
    // The sign lets words that fall on the same place cancel out instead of adding up.
    const sign = (hash >>> 16) % 2 === 0 ? 1 : -1;
    vector[at] = (vector[at] ?? 0) + sign * (1 + Math.log(count));
  }
  return normalise(vector);
}

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
