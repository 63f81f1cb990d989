import { roomForRequest } from '../context/room.ts';
import { createAnswerSizes, isAlike } from './answer-sizes.ts';
import { type CallLoad, loadOf, type Repetitions } from './call-load.ts';
import type { ForeseenCall } from './foresee-calls.ts';
import { type EmbeddingFacts, foreseeEmbedding, type PromptTexts } from './foresee-embedding.ts';
import { foreseeSearches } from './foresee-searches.ts';
import type {
  Addition,
  Amounts,
  Estimate,
  MeasuredStep,
  ModelFacts,
  PromptMeter,
  Range,
  Scenario,
  ShortenedPrompt,
} from './types.ts';

/** Everything that an estimate is made of. */
type EstimateInput = {
  readonly process: string;
  readonly calls: readonly ForeseenCall[];
  readonly meter: PromptMeter;
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly measured: readonly MeasuredStep[];
  /** The search service of research stages; null where none is asked. */
  readonly searchService?: string | null;
  /** How often each document may be asked for again. */
  readonly repetitionsOf: (call: ForeseenCall) => MostRepetitions;
  /** By author: the model that embeds for its prompts; absent where this machine compares texts. */
  readonly embeddings?: ReadonlyMap<string, EmbeddingFacts>;
};

/** How often a document is asked for again at most, and how often of another participant. */
export type MostRepetitions = Pick<Repetitions, 'most' | 'elsewhere'>;

type Loads = Record<Scenario, CallLoad>;
type LoadedCall = {
  readonly call: ForeseenCall;
  readonly loads: Loads;
  readonly texts: PromptTexts['texts'];
};

/** Adds up what the calls of a run will take, for each stage and each model. */
export function estimateRun(input: EstimateInput): Estimate {
  // What code makes is measured as an input of later prompts, but is no call.
  const loaded = loadCalls(input).filter(({ call }) => call.step.compute === null);
  const sumBy = (key: (call: ForeseenCall) => string): [ForeseenCall, Amounts][] =>
    [...Map.groupBy(loaded, ({ call }) => key(call)).values()].map((list) => [
      list[0]!.call,
      amountsOf(list),
    ]);
  const embedding = weighEmbedding(loaded, input.embeddings);
  const lanes = new Set(input.calls.map(({ job }) => job.laneId)).size;
  const searches = foreseeSearches(input.searchService ?? null, input.calls, lanes);
  const priced = (model: string): boolean => input.models.get(model)?.price !== null;
  return {
    process: input.process,
    documents: loaded.length,
    ...withSearches(withEmbedding(amountsOf(loaded), embedding), searches),
    searches,
    stages: sumBy(({ job }) => job.stage).map(([{ stage }, sum]) => ({
      stage: stage.key,
      name: stage.name,
      ...sum,
    })),
    models: sumBy(({ model }) => model).map(([{ model }, sum]) => ({ model, ...sum })),
    parts: sumBy(({ job, model }) => `${job.stage}\n${model}`).map(([{ job, model }, sum]) => ({
      stage: job.stage,
      model,
      ...sum,
    })),
    additions: {
      continuation: additionOf(loaded, ({ continuation }) => continuation),
      repetition: additionOf(loaded, ({ repetition }) => repetition),
      compression: {
        calls: sumLoads(loaded, ({ removedTokens }) => (removedTokens > 0 ? 1 : 0)),
        removedTokens: sumLoads(loaded, ({ removedTokens }) => removedTokens),
        documents: findShortened(loaded, input.models),
        embedding,
      },
    },
    unpriced: [
      ...[...input.models.keys()].filter((model) => !priced(model)),
      ...(embedding?.costUsd === null ? [embedding.model] : []),
    ],
    learnedDocuments: countLearned(input),
  };
}

/** The prompts that are likely to be too long, those of one document and model together. */
function findShortened(
  loaded: readonly LoadedCall[],
  models: EstimateInput['models'],
): ShortenedPrompt[] {
  const long = loaded.filter(({ loads }) => loads.middle.removedTokens > 0);
  const groups = Map.groupBy(long, ({ call: { job, model } }) =>
    [job.stage, job.documentKey, model].join('\n'),
  );
  return [...groups.values()].flatMap((list) => {
    const [first] = list;
    const facts = first && models.get(first.call.model);
    const room = facts ? roomForRequest(facts.window) : null;
    if (!first || room === null) return [];
    const { job, model } = first.call;
    const removed = Math.max(...list.map(({ loads }) => loads.middle.removedTokens));
    const about = { stage: job.stage, document: job.documentKey, model, calls: list.length };
    return [{ ...about, tokens: Math.round(room + removed), room }];
  });
}

type Embedding = Estimate['additions']['compression']['embedding'];

/** The sums of all calls with what their embeddings take. */
function withEmbedding(sums: Amounts, embedding: Embedding): Amounts {
  if (embedding === null) return sums;
  const { tokens, costUsd } = embedding;
  return {
    ...sums,
    inputTokens: addRanges(sums.inputTokens, mapRange(tokens, Math.round)),
    costUsd: sums.costUsd && costUsd && addRanges(sums.costUsd, costUsd),
  };
}

/** The sums with what searches of the web take, which use no tokens. */
const withSearches = (sums: Amounts, searches: Estimate['searches']): Amounts =>
  searches === null
    ? sums
    : { ...sums, costUsd: sums.costUsd && addRanges(sums.costUsd, searches.costUsd) };

export const addRanges = (one: Range, other: Range): Range => ({
  low: one.low + other.low,
  middle: one.middle + other.middle,
  high: one.high + other.high,
});

const isLong = ({ removedTokens }: CallLoad): boolean => removedTokens > 0;

function weighEmbedding(
  loaded: readonly LoadedCall[],
  embeddings: EstimateInput['embeddings'],
): Embedding {
  const own = loaded.filter(({ call }) => embeddings?.has(call.model));
  const facts = embeddings?.get(own[0]?.call.model ?? '');
  if (facts === undefined) return null;
  const foreseen = foreseeEmbedding(
    facts,
    own.map(({ loads: { low, middle, high }, texts }) => ({
      isTooLong: { low: isLong(low), middle: isLong(middle), high: isLong(high) },
      texts,
    })),
  );
  return foreseen.tokens.high === 0 ? null : foreseen;
}

/** Documents of finished runs that tell something about the models of this one. */
function countLearned({ measured, models }: EstimateInput): number {
  const used = [...models.keys()];
  return measured
    .filter((one) => used.some((model) => isAlike(one.model, model)))
    .reduce((sum, one) => sum + one.documents, 0);
}

function loadCalls(input: EstimateInput): LoadedCall[] {
  const { calls, meter, models, measured, repetitionsOf } = input;
  const sizeOf = createAnswerSizes(meter, measured);
  const byIdentity = new Map(calls.map((call) => [call.job.identity, call]));
  const answerOf = (call: ForeseenCall) => sizeOf(call, models.get(call.model)!);
  return calls.map((call) => {
    const parts = meter.measurePrompt(call);
    const ratios = parts.inputs.map(({ from }) => {
      const author = from === null ? undefined : byIdentity.get(from);
      return author ? answerOf(author).ratio : AS_IT_IS;
    });
    const repetitions = { ...repetitionsOf(call), others: [...models.values()] };
    const load = (scenario: Scenario): CallLoad =>
      loadOf({ parts, ratios }, answerOf(call), models.get(call.model)!, scenario, repetitions);
    const texts = parts.inputs.map(({ from, tokens }, at) => ({
      // What is there before the run has no name here; its length tells it from others.
      key: from ?? `given ${tokens}`,
      tokens: mapRange(ratios[at] ?? AS_IT_IS, (ratio) => ratio * tokens),
    }));
    const loads = { low: load('low'), middle: load('middle'), high: load('high') };
    return { call, loads, texts };
  });
}

/** What is there before the run has the size that it has. */
const AS_IT_IS: Range = { low: 1, middle: 1, high: 1 };

function amountsOf(list: readonly LoadedCall[]): Amounts {
  const unknown = list.some(({ loads }) => loads.middle.costMicros === null);
  const micros = sumLoads(list, ({ costMicros }) => costMicros ?? 0);
  return {
    ...additionOf(list, (load) => load),
    costUsd: unknown ? null : mapRange(micros, (value) => value / 1e6),
  };
}

const additionOf = (
  list: readonly LoadedCall[],
  part: (load: CallLoad) => Record<keyof Addition, number>,
): Addition => ({
  calls: sumLoads(list, (load) => part(load).calls),
  inputTokens: sumLoads(list, (load) => part(load).inputTokens),
  outputTokens: sumLoads(list, (load) => part(load).outputTokens),
});

function sumLoads(list: readonly LoadedCall[], value: (load: CallLoad) => number): Range {
  const sum = (scenario: Scenario): number =>
    Math.round(list.reduce((total, { loads }) => total + value(loads[scenario]), 0));
  const middle = sum('middle');
  // Rates of one's own making may be dearer for cached input, which is cheaper everywhere else.
  return { low: Math.min(sum('low'), middle), middle, high: Math.max(sum('high'), middle) };
}

const mapRange = ({ low, middle, high }: Range, change: (value: number) => number): Range => ({
  low: change(low),
  middle: change(middle),
  high: change(high),
});
