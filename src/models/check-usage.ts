import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ModelRequest, TokenUsage } from './types.ts';
import type { ModelWindow } from './windows.ts';

/** No model reads or writes more at once, as far as anybody has announced. */
const LARGEST_WINDOW = 10_000_000;
/** What providers put around a prompt on their side: instructions for structured output, tools. */
const FRAME_TOKENS = 4_000;

/** The most that one call can have used. */
export type UsageCeiling = { readonly inputTokens: number; readonly outputTokens: number };

/**
 * The most tokens that a request can take. Every tokenizer covers at least one byte of the text with
 * a token; the window bounds what is left open. An answer has at most what was asked for.
 */
export function ceilingOf(request: ModelRequest, window: ModelWindow): UsageCeiling {
  const whole = window.windowTokens ?? LARGEST_WINDOW;
  const texts = [request.system, ...request.messages.map(({ content }) => content)];
  const schema = request.schema ? JSON.stringify(request.schema) : '';
  const bytes = [...texts, schema].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return {
    inputTokens: Math.min(whole, bytes + FRAME_TOKENS),
    outputTokens: Math.min(whole, request.maxOutputTokens ?? window.maxOutputTokens ?? whole),
  };
}

const isCount = (count: number, most: number): boolean =>
  Number.isSafeInteger(count) && count >= 0 && count <= most;

/** The provider's counts where they can be true; null where it reported none, or impossible ones. */
export function checkUsage(
  usage: LanguageModelV4Usage | undefined,
  ceiling: UsageCeiling,
): TokenUsage | null {
  const { total: inputTokens, cacheRead = 0, cacheWrite = 0 } = usage?.inputTokens ?? {};
  const outputTokens = usage?.outputTokens.total;
  if (!inputTokens || outputTokens === undefined) return null;
  const isPossible =
    isCount(inputTokens, ceiling.inputTokens) &&
    isCount(outputTokens, ceiling.outputTokens) &&
    isCount(cacheRead, inputTokens) &&
    isCount(cacheWrite, inputTokens - cacheRead);
  if (!isPossible) return null;
  return {
    inputTokens,
    outputTokens,
    cachedInputTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    estimated: false,
  };
}
