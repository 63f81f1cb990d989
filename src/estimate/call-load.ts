import { roomForRequest } from '../context/room.ts';
import { costMicros } from '../models/prices.ts';
import type { AnswerSize } from './answer-sizes.ts';
import type { ModelFacts, PromptParts, Scenario } from './types.ts';

/** What a request to write again names at most: faults, and passages of sources. */
const FAULTS_TOKENS = 4_000;
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

/** How often a document is asked for again at most, and of whom beside its author. */
export type Repetitions = {
  readonly most: number;
  /** How many of those are asked of other participants, whose prices may be higher. */
  readonly elsewhere: number;
  readonly others: readonly ModelFacts[];
};

/** Adds one document up: its first call, the turns that go on with it, and those that repeat it. */
export function loadOf(
  { parts, ratios }: SizedPrompt,
  answer: AnswerSize,
  facts: ModelFacts,
  scenario: Scenario,
  repetitions: Repetitions,
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
  const { repetition, cost } = repeat(prompt, output, facts, scenario, repetitions);
  const { each, first } = turnsOf(prompt, output, facts);
  const continuation = sumTurns(each);
  return {
    calls: 1 + each.length + repetition.calls,
    inputTokens: prompt + continuation.inputTokens + repetition.inputTokens,
    outputTokens: output + repetition.outputTokens,
    costMicros: plus(priceAll([first, ...each], facts, scenario), cost),
    continuation,
    repetition,
    removedTokens: whole - prompt,
  };
}

type Turn = Omit<Load, 'calls'>;

/** Every further turn reads the prompt, what was written and each request to go on with it. */
function turnsOf(prompt: number, output: number, { window }: ModelFacts) {
  const most = window.maxOutputTokens ?? output;
  const each: Turn[] = [];
  for (let written = most; written < output; written += most) {
    const outputTokens = Math.min(most, output - written);
    const requests = GO_ON_TOKENS * (each.length + 1);
    each.push({ inputTokens: prompt + written + requests, outputTokens });
  }
  const first: Turn = { inputTokens: prompt, outputTokens: Math.min(most, output) };
  return { each, first };
}

const sumTurns = (turns: readonly Turn[]): Load => ({
  calls: turns.length,
  inputTokens: turns.reduce((sum, turn) => sum + turn.inputTokens, 0),
  outputTokens: turns.reduce((sum, turn) => sum + turn.outputTokens, 0),
});

/**
 * An answer that cannot be used is shown to the model, which writes it again. At most it does so as
 * often as the rules of the debate allow, and each time as long.
 */
function repeat(
  prompt: number,
  output: number,
  facts: ModelFacts,
  scenario: Scenario,
  { most, elsewhere, others }: Repetitions,
): { readonly repetition: Load; readonly cost: number | null } {
  const seen = facts.repairRate ?? 0;
  const times = { low: 0, middle: Math.min(seen, most), high: most }[scenario];
  if (times === 0) return { repetition: { calls: 0, inputTokens: 0, outputTokens: 0 }, cost: 0 };
  const faults = scenario === 'high' ? FAULTS_TOKENS : 0;
  const { first, each } = turnsOf(prompt + output + faults, output, facts);
  const turns = [first, ...each];
  const once = sumTurns(turns);
  const own = priceAll(turns, facts, scenario);
  const prices = [own, ...others.map((other) => priceAll(turns, other, scenario))];
  const dearest = prices.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)));
  const away = scenario === 'high' ? elsewhere : 0;
  return {
    repetition: {
      calls: times * once.calls,
      inputTokens: times * once.inputTokens,
      outputTokens: times * once.outputTokens,
    },
    cost: plus(multiply(own, times - away), multiply(dearest, away)),
  };
}

const priceAll = (turns: readonly Turn[], facts: ModelFacts, scenario: Scenario): number | null =>
  turns.reduce((sum: number | null, turn) => plus(sum, priceOf(turn, facts, scenario)), 0);

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

const multiply = (cost: number | null, by: number): number | null =>
  by === 0 ? 0 : cost === null ? null : cost * by;

/** Unknown and something is unknown. */
const plus = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;
