const WORD = /[\p{L}\p{N}]{3,40}/gu;
/** A score tells sources apart; what stands behind the first pages changes it little. */
const LONGEST = 200_000;

const wordsOf = (text: string): Set<string> =>
  new Set(text.slice(0, LONGEST).toLowerCase().match(WORD) ?? []);

/**
 * How much of a request a text is about, from 0 to 1: the share of the request's words that it has,
 * long ones counting more. It depends on nothing else, so that it never changes for a source.
 */
export function scoreRelevance(request: string): (text: string) => number {
  const wanted = [...wordsOf(request)];
  const all = wanted.reduce((sum, { length }) => sum + length, 0);
  return (text) => {
    if (all === 0) return 0;
    const found = wordsOf(text);
    const shared = wanted.filter((word) => found.has(word));
    return shared.reduce((sum, { length }) => sum + length, 0) / all;
  };
}
