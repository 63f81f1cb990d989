import { loadTokenCounter } from './tokens.ts';
import type { ModelRequest, ModelResult, TokenUsage } from './types.ts';

/** What a call is paid by: the usage that the provider reported, else request and text counted. */
export async function countUsage(
  request: ModelRequest,
  { usage, text }: Pick<ModelResult, 'usage' | 'text'>,
): Promise<TokenUsage> {
  if (!usage.estimated || usage.inputTokens > 0) return usage;
  const counter = await loadTokenCounter();
  const inputTokens = counter.countRequest(request);
  return { ...usage, inputTokens, outputTokens: counter.count(request.model, text) };
}

/** For a call that can no longer report what it used. */
export const UNKNOWN_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: true,
};
