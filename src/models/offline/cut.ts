/** The first `length` characters, one less where that would split a character; never none. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  const splits = /[\ud800-\udbff]/.test(text.charAt(length - 1));
  return text.slice(0, splits ? (length > 1 ? length - 1 : 2) : length);
}

/** The longest beginning that is within the budget, never less than one character. */
export function cutToTokens(text: string, budget: number, count: (text: string) => number): string {
  if (text.length <= budget || count(text) <= budget) return text;
  let [fits, fails] = [1, text.length];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (count(cutAt(text, middle)) > budget) fails = middle;
    else fits = middle;
  }
  return cutAt(text, fits);
}
