import type { ModelWindow } from '../models/windows.ts';

/** The output limit that is assumed where a model's is unknown; documents are far shorter. */
export const USUAL_OUTPUT = 16_384;
/** No answer may take more of the window than this, however long it could be. */
const ANSWER_SHARE = 1 / 4;
/** What is kept for the answer where the request needs the rest; with less, turns bring too little. */
export const LEAST_ANSWER_SHARE = 1 / 16;
/** The same for the smallest form of a request, which otherwise could not be sent at all. */
export const SPARE_ANSWER_SHARES = [1 / 24, 1 / 32];
/** Counts of tokens differ from the provider's by a little. */
const MARGIN_SHARE = 1 / 50;

/**
 * How many tokens a request may have, beside an answer of that share of the window; null where the
 * window is unknown.
 */
export function roomForRequest(
  { windowTokens, maxOutputTokens }: ModelWindow,
  answerShare = ANSWER_SHARE,
): number | null {
  if (windowTokens === null) return null;
  const answer = Math.min(maxOutputTokens ?? USUAL_OUTPUT, windowTokens * answerShare);
  return Math.floor(windowTokens * (1 - MARGIN_SHARE) - answer);
}

/** How long the answer to a request of so many tokens may be at most. */
export function roomForAnswer(window: ModelWindow, inputTokens: number): number {
  const most = window.maxOutputTokens ?? USUAL_OUTPUT;
  if (window.windowTokens === null) return most;
  const left = Math.floor(window.windowTokens * (1 - MARGIN_SHARE)) - inputTokens;
  // A request that is too long is refused before; here the counts of two tokenizers may differ.
  return Math.max(1, Math.min(most, left));
}
