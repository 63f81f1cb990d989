import type { TokenCounter } from '../tokens.ts';

/** The first `length` characters, one less where that would split a character in two. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  const splits = code >= 0xd800 && code <= 0xdbff;
  return text.slice(0, splits ? length - 1 : length);
}

/** The longest beginning that is within the budget, never less than one character. */
export function cutToTokens(
  text: string,
  budget: number,
  model: string,
  counter: TokenCounter,
): string {
  if (text.length <= budget || counter.count(model, text) <= budget) return text;
  let fits = Math.min(budget, text.length);
  while (fits > 1 && counter.count(model, cutAt(text, fits)) > budget) fits = fits >> 1;
  let fails = text.length;
  for (let step = budget * 4; fits + step < fails; step *= 2) {
    if (counter.count(model, cutAt(text, fits + step)) > budget) fails = fits + step;
    else fits += step;
  }
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (counter.count(model, cutAt(text, middle)) > budget) fails = middle;
    else fits = middle;
  }
  return cutAt(text, fits) || text.slice(0, 2);
}
