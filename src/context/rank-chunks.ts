import type { Embedded } from './embedder.ts';
import { VectorScan } from './vector-scan.ts';
import type { WordIndex } from './word-index.ts';

/** The constant of reciprocal rank fusion: how little the first places differ. */
const RANK_OFFSET = 10;
/** How much being singular, and dissenting, counts beside serving a question. */
const SINGULAR = 0.1;
const DISSENTING = 0.05;
/** What disagreement is written with. */
const DISSENT = 'but however instead although disagree conflict contradict objection risk wrong';
/** Ranks below this one count nothing: the thousandth chunk has a hundredth of the first's score. */
const DEPTH = 1_000;

/**
 * How well each chunk serves a question: its ranks by meaning and by words, fused by their
 * reciprocals. Only the best `depth` of each ranking count.
 */
export function serveQuestion(
  vectors: VectorScan,
  words: WordIndex,
  question: Embedded,
  depth: number,
): Float64Array {
  const served = reciprocalRanks(words.match(question.text), depth).map((rank) => rank / 2);
  for (const [rank, { at }] of vectors.nearest(question.vector, depth).entries()) {
    served[at] = (served[at] ?? 0) + RANK_OFFSET / (RANK_OFFSET + rank) / 2;
  }
  return served;
}

/**
 * How much each chunk is wanted, by the question that it serves best. All questions count the same:
 * weighed by what their best chunks have to say, those in other words than the text's lost theirs
 * (2 % of the facts of `npm run bench retrieval`).
 */
export function scoreChunks(
  words: WordIndex,
  chunks: readonly Embedded[],
  questions: readonly Embedded[],
): number[] {
  const vectors = new VectorScan(chunks);
  return addOutliers(
    words,
    questions.map((question) => serveQuestion(vectors, words, question, DEPTH)),
  );
}

/** To the best that a chunk does for a question: what is singular or dissents is wanted anyway. */
function addOutliers(words: WordIndex, served: readonly Float64Array[]): number[] {
  const singular = reciprocalRanks(words.singularity(), DEPTH);
  const dissent = reciprocalRanks(words.match(DISSENT), DEPTH);
  return Array.from(singular, (rank, at) => {
    const best = served.reduce((most, one) => Math.max(most, one[at] ?? 0), 0);
    return best + SINGULAR * rank + DISSENTING * (dissent[at] ?? 0);
  });
}

/** What a text with chunks of these scores is worth: the mean of its three most wanted. */
export function valueOf(scores: readonly number[]): number {
  const best = scores.toSorted((a, b) => b - a).slice(0, 3);
  return best.reduce((sum, score) => sum + score, 0) / Math.max(1, best.length);
}

/**
 * For each measured value its reciprocal rank, 1 for the highest; 0 from rank `depth` on and where
 * there is nothing. Equal values rank in their order.
 */
function reciprocalRanks(measured: Float64Array, depth: number): Float64Array {
  const result = new Float64Array(measured.length);
  for (const [rank, at] of highest(measured, depth).entries()) {
    result[at] = RANK_OFFSET / (RANK_OFFSET + rank);
  }
  return result;
}

/** Where the highest positive values are, the highest first. */
export function highest(measured: Float64Array, most: number): number[] {
  // A typed array sorts numbers in native code: 8 ms for 100,000, of which few are then compared.
  const threshold = measured.toSorted()[measured.length - most] ?? 0;
  const found: number[] = [];
  for (let at = 0; at < measured.length; at++) {
    const one = measured[at] ?? 0;
    if (one > 0 && one >= threshold) found.push(at);
  }
  return found.toSorted((a, b) => (measured[b] ?? 0) - (measured[a] ?? 0) || a - b).slice(0, most);
}
