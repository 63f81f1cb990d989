import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { WorstCase } from './holds.ts';

/** The most that a call can cost: all input new to the provider's cache, all output used. */
export function worstCase(
  price: ModelPrice | null,
  inputTokens: number,
  outputTokens: number,
): WorstCase {
  const inputUsdMicros = priceOf(price, inputTokens, 0);
  return {
    usdMicros: Math.max(inputUsdMicros, priceOf(price, inputTokens, outputTokens)),
    tokens: inputTokens + outputTokens,
    inputUsdMicros,
    inputTokens,
  };
}

/** Some providers take more for writing to their cache than for reading past it, some less. */
function priceOf(price: ModelPrice | null, inputTokens: number, outputTokens: number): number {
  if (price === null) return 0;
  const costs = [0, inputTokens].map((cacheWriteTokens) => {
    const usage = { inputTokens, outputTokens, cachedInputTokens: 0, cacheWriteTokens };
    return costMicros({ ...usage, estimated: true }, price);
  });
  return Math.max(...costs);
}

/** How many tokens of output fit into what is left beside the input; null where nothing limits. */
export function affordableOutput(
  price: ModelPrice | null,
  inputTokens: number,
  left: { readonly usdLeft: number | null; readonly tokensLeft: number | null },
): number | null {
  const limits: number[] = [];
  if (left.tokensLeft !== null) limits.push(left.tokensLeft - inputTokens);
  const million = priceOf(price, inputTokens, 1_000_000) - priceOf(price, inputTokens, 0);
  if (left.usdLeft !== null && million > 0) {
    // One micro-dollar less: the cost of input and output is rounded up as a whole.
    const rest = left.usdLeft - priceOf(price, inputTokens, 0) - 1;
    limits.push(Math.floor((rest * 1_000_000) / million));
  }
  return limits.length === 0 ? null : Math.max(0, Math.min(...limits));
}
