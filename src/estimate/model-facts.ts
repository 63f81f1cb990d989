import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import type { TokenCounter } from '../models/tokens.ts';
import { findWindow } from '../models/windows.ts';
import type { RunHistory } from './read-history.ts';
import type { ModelFacts, Range } from './types.ts';

/** The tokenizer as it is, without the safety that it adds for models of others. */
export const PLAIN_MODEL = 'openai/plain';

/** Long enough that rounding does not show. */
const SAMPLE =
  'Each participant reads the request, writes a proposal and reviews the others. '.repeat(40);

/** Prices, windows and habits of the models of a run. */
export async function gatherModelFacts(
  models: readonly string[],
  config: ModelsConfig,
  history: RunHistory,
  counter: TokenCounter,
): Promise<Map<string, ModelFacts>> {
  const facts = new Map<string, ModelFacts>();
  for (const model of new Set(models)) {
    const seen = history.models.find((one) => one.model === model);
    const window = await findWindow(model, config);
    const maxOutputTokens = window.maxOutputTokens ?? seen?.mostOutputTokens ?? null;
    facts.set(model, {
      price: await findPrice(model, config),
      window: { ...window, maxOutputTokens },
      tokenFactor: tokenFactorOf(model, seen?.tokenFactor ?? null, counter),
      isLearned: typeof seen?.tokenFactor === 'number',
      repairRate: seen?.repairRate ?? null,
      cachedShare: seen?.cachedShare ?? null,
    });
  }
  return facts;
}

/** What the provider counted in earlier runs, else between plain and safe. */
function tokenFactorOf(model: string, seen: number | null, counter: TokenCounter): Range {
  if (seen !== null) return { low: seen * 0.97, middle: seen, high: seen * 1.03 };
  const safety = counter.count(model, SAMPLE) / counter.count(PLAIN_MODEL, SAMPLE);
  return { low: 1, middle: (1 + safety) / 2, high: safety };
}
