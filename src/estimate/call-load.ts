import { roomForRequest } from '../context/room.ts';
import { costMicros } from '../models/prices.ts';
import type { AnswerSize } from './answer-sizes.ts';
import type { ModelFacts, PromptParts, Scenario } from './types.ts';

/** Documents that are asked for again at most, in a run in order, where no run has shown it. */
const FEW_REPETITIONS = 0.15;
/** Input that begins as an earlier prompt did: measured 0.47 with one model, 0.81 with three. */
const LIKELY_REUSE = 0.8;
/** One request to go on, with the last characters that it quotes. */
const GO_ON_TOKENS = 100;

type Load = { readonly calls: number; readonly inputTokens: number; readonly outputTokens: number };

/** What one document takes in one scenario, and what of it comes on top of a single call. */
export type CallLoad = Load & {
  readonly costMicros: number | null;
  readonly continuation: Load;
  readonly repetition: Load;
  readonly removedTokens: number;
};

/** A prompt of the run with documents of the sizes that their own authors are expected to give. */
type SizedPrompt = {
  readonly parts: PromptParts;
  readonly ratios: readonly AnswerSize['ratio'][];
};

/** Adds one document up: its first call, the turns that go on with it, and those that repeat it. */
export function loadOf(
  { parts, ratios }: SizedPrompt,
  answer: AnswerSize,
  facts: ModelFacts,
  scenario: Scenario,
): CallLoad {
  const documents = parts.inputs.reduce(
    (sum, input, at) => sum + input.tokens * (ratios[at]?.[scenario] ?? 1),
    0,
  );
  // Where runs have shown how the provider counts, the schema is part of what was compared.
  const isSchemaCounted = scenario === 'high' || facts.isLearned;
  const fixed = parts.frameTokens + (isSchemaCounted ? parts.schemaTokens : 0);
  const whole = (fixed + documents) * facts.tokenFactor[scenario];
  const prompt = Math.min(whole, roomForRequest(facts.window) ?? whole);
  const output = answer.tokens[scenario];
  const { repetition, again } = repeat(prompt, output, facts, scenario);
  const turns = continuationOf(prompt, output, facts);
  const first = { inputTokens: prompt, outputTokens: output - turns.outputTokens };
  const single = priceOf(first, facts, scenario);
  const costs = [
    single,
    ...turns.each.map((turn) => priceOf(turn, facts, scenario)),
    repetition.calls === 0 ? 0 : times(priceOf(again, facts, scenario), repetition.calls),
  ];
  return {
    calls: 1 + turns.each.length + repetition.calls,
    inputTokens: prompt + turns.inputTokens + repetition.inputTokens,
    outputTokens: output + repetition.outputTokens,
    costMicros: costs.reduce((sum: number | null, one) => plus(sum, one), 0),
    continuation: { ...turns, calls: turns.each.length },
    repetition,
    removedTokens: whole - prompt,
  };
}

type Turn = Omit<Load, 'calls'>;

/** Every further turn reads the prompt, what was written and each request to go on with it. */
function continuationOf(prompt: number, output: number, { window }: ModelFacts) {
  const most = window.maxOutputTokens ?? output;
  const each: Turn[] = [];
  for (let written = most; written < output; written += most) {
    const outputTokens = Math.min(most, output - written);
    const requests = GO_ON_TOKENS * (each.length + 1);
    each.push({ inputTokens: prompt + written + requests, outputTokens });
  }
  const inputTokens = each.reduce((sum, turn) => sum + turn.inputTokens, 0);
  return { each, inputTokens, outputTokens: Math.max(0, output - most) };
}

/** An answer that cannot be used is shown to the model, which writes it again. */
function repeat(prompt: number, output: number, facts: ModelFacts, scenario: Scenario) {
  const seen = facts.repairRate ?? 0;
  const rates = { low: 0, middle: seen, high: Math.max(FEW_REPETITIONS, 2 * seen) };
  const calls = rates[scenario];
  const again: Turn = { inputTokens: prompt + output, outputTokens: output };
  const repetition: Load = {
    calls,
    inputTokens: calls * again.inputTokens,
    outputTokens: calls * again.outputTokens,
  };
  return { repetition, again };
}

/**
 * At best a good part of the input is read from the provider's cache, at worst all of it is
 * written there and never read. Unless runs have shown more, the middle counts on neither.
 */
function priceOf(turn: Turn, facts: ModelFacts, scenario: Scenario): number | null {
  const { price, cachedShare } = facts;
  if (price === null) return null;
  const seen = cachedShare ?? 0;
  const shares = { low: Math.max(seen, LIKELY_REUSE), middle: seen, high: 0 };
  const cachedInputTokens = Math.floor(turn.inputTokens * shares[scenario]);
  const written = scenario === 'high' && price.rates.cacheWrite > price.rates.input;
  const cacheWriteTokens = written ? turn.inputTokens : 0;
  return costMicros({ ...turn, cachedInputTokens, cacheWriteTokens, estimated: true }, price);
}

const times = (cost: number | null, by: number): number | null =>
  cost === null ? null : cost * by;

/** Unknown and something is unknown. */
const plus = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;
