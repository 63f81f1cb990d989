import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { Range, Scenario } from './types.ts';

const ALL_FRESH = {
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  estimated: true,
};

/** A model of a provider that compares the parts of prompts that are too long, and its price. */
export type EmbeddingFacts = { readonly model: string; readonly price: ModelPrice | null };

/** The documents of one prompt: whether it is too long, and how long each of them is. */
export type PromptTexts = {
  readonly isTooLong: Readonly<Record<Scenario, boolean>>;
  /** By what is the same in every prompt that shows the document. */
  readonly texts: readonly { readonly key: string; readonly tokens: Range }[];
};

/** What embedding takes: each document of a prompt that is too long once, however often it is read. */
export function foreseeEmbedding(
  { model, price }: EmbeddingFacts,
  prompts: readonly PromptTexts[],
): { readonly model: string; readonly tokens: Range; readonly costUsd: Range | null } {
  const tokensIn = (scenario: Scenario): number => {
    const long = prompts.filter(({ isTooLong }) => isTooLong[scenario]);
    const texts = new Map(
      long.flatMap((prompt) => prompt.texts.map(({ key, tokens }) => [key, tokens[scenario]])),
    );
    return Math.round([...texts.values()].reduce((sum, one) => sum + one, 0));
  };
  const tokens = { low: tokensIn('low'), middle: tokensIn('middle'), high: tokensIn('high') };
  if (price === null) return { model, tokens, costUsd: null };
  const costOf = (inputTokens: number): number =>
    costMicros({ ...ALL_FRESH, inputTokens }, price) / 1e6;
  const costUsd = {
    low: costOf(tokens.low),
    middle: costOf(tokens.middle),
    high: costOf(tokens.high),
  };
  return { model, tokens, costUsd };
}
