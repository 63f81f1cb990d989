/** Puts the contract's names back into text that arrives in pieces. */
export type NameRestorer = {
  /** Takes a piece and gives back what is certain by now. */
  push(piece: string): string;
  /** Gives back what was held because it could have become a name. */
  flush(): string;
};

/**
 * Replaces safe property names, in their quotes, by the names that the contract uses. What could
 * be the beginning of a name is held back, so that a name split between pieces is still found.
 */
export function createNameRestorer(renamed: ReadonlyMap<string, string>): NameRestorer {
  if (renamed.size === 0) return { push: (piece) => piece, flush: () => '' };
  const tokens = new Map([...renamed].map(([safe, name]) => [`"${safe}"`, JSON.stringify(name)]));
  // Safe names hold only letters, digits and underscores, so that nothing needs escaping; the
  // longest alternative comes first, since one may begin another.
  const longestFirst = [...tokens.keys()].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.join('|'), 'g');
  const replace = (text: string): string => text.replace(pattern, (token) => tokens.get(token)!);
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      const last = [...text.matchAll(pattern)].at(-1);
      const done = last ? last.index + last[0].length : 0;
      const cut = startOfPartialToken(text, done, longestFirst);
      held = text.slice(cut);
      return replace(text.slice(0, cut));
    },
    flush() {
      const rest = replace(held);
      held = '';
      return rest;
    },
  };
}

function startOfPartialToken(text: string, done: number, longestFirst: readonly string[]): number {
  const from = Math.max(done, text.length - longestFirst[0]!.length + 1);
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    const tail = text.slice(at);
    if (longestFirst.some((token) => token.length > tail.length && token.startsWith(tail))) {
      return at;
    }
  }
  return text.length;
}
