/** Finds any of some words or patterns, with commas between them, as whole words in any case. */
export const anyWord = (...lists: readonly string[]): RegExp => {
  const words = lists.flatMap((list) => list.split(/,\s*/));
  return new RegExp(`(?<!\\p{L})(?:${words.join('|')})(?!\\p{L})`, 'iu');
};
