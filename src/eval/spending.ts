import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { TokenUsage } from '../models/types.ts';

/** What one side, or the judging, has taken so far. */
export type Spending = {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null where the price of a model is unknown. */
  readonly costUsd: number | null;
};

/** Adds calls up as they come in; failed ones count, since providers may bill them. */
export class SpendingTally {
  #calls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  #costMicros: number | null = 0;

  add(usage: TokenUsage | undefined, price: ModelPrice | null): void {
    this.#calls++;
    if (!usage) return;
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    const cost = price && costMicros(usage, price);
    this.#costMicros = this.#costMicros === null || cost === null ? null : this.#costMicros + cost;
  }

  sum(): Spending {
    return {
      calls: this.#calls,
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      costUsd: this.#costMicros === null ? null : this.#costMicros / 1e6,
    };
  }
}

/** Several spendings as one; a price that is unknown makes the whole cost so. */
export const addSpendings = (parts: readonly Spending[]): Spending => ({
  calls: sumOf(parts, ({ calls }) => calls),
  inputTokens: sumOf(parts, ({ inputTokens }) => inputTokens),
  outputTokens: sumOf(parts, ({ outputTokens }) => outputTokens),
  costUsd: parts.some(({ costUsd }) => costUsd === null)
    ? null
    : sumOf(parts, ({ costUsd }) => Math.round(costUsd! * 1e6)) / 1e6,
});

const sumOf = (parts: readonly Spending[], of: (one: Spending) => number): number =>
  parts.reduce((sum, one) => sum + of(one), 0);
