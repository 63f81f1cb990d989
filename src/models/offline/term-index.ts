/** Words with their weight in a question. */
export type Query = ReadonlyMap<string, number>;

/** Finds statements by rare common words. */
export type TermIndex = {
  /** How rare a word is: 0 where every statement has it. */
  rarity(term: string): number;
  /** Scores by position; what shares no word is not in it. */
  match(query: Query): Map<number, number>;
};

/** Postings by term, so that a question touches only the statements that share its words. */
export function createTermIndex(documents: readonly (readonly string[])[]): TermIndex {
  const postings = new Map<string, number[]>();
  for (const [at, terms] of documents.entries()) {
    for (const term of terms) {
      const list = postings.get(term);
      if (list) list.push(at);
      else postings.set(term, [at]);
    }
  }
  const count = documents.length;
  const rarity = (term: string): number =>
    Math.log((count + 1) / ((postings.get(term)?.length ?? 0) + 0.5));
  return {
    rarity,
    match(query) {
      const scores = new Map<number, number>();
      for (const [term, weight] of query) {
        const gain = weight * Math.max(0, rarity(term));
        for (const at of postings.get(term) ?? []) {
          const length = Math.sqrt(documents[at]!.length + 4);
          scores.set(at, (scores.get(at) ?? 0) + gain / length);
        }
      }
      return scores;
    },
  };
}

/** Share of the words of the smaller set that both have. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  let common = 0;
  for (const term of small) if (large.has(term)) common++;
  return small.size === 0 ? 0 : common / small.size;
}

/** A number that depends on the text alone (FNV-1a), for choices that need no reason. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Positions of the largest values, largest first; among equals the earlier one. */
export function findLargest(values: readonly number[], count: number): number[] {
  const best: number[] = [];
  for (const [at, value] of values.entries()) {
    if (best.length === count && value <= values[best[count - 1]!]!) continue;
    let place = best.length;
    while (place > 0 && values[best[place - 1]!]! < value) place--;
    best.splice(place, 0, at);
    if (best.length > count) best.pop();
  }
  return best;
}
