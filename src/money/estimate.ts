import { createAnswerSizes } from './estimate-answers.ts';
import { type CallLoad, loadOf } from './estimate-call.ts';
import type { ForeseenCall } from './estimate-plan.ts';
import type {
  Addition,
  Amounts,
  Estimate,
  MeasuredStep,
  ModelFacts,
  PromptMeter,
  Range,
  Scenario,
} from './estimate-types.ts';

/** Everything that an estimate is made of. */
export type EstimateInput = {
  readonly process: string;
  readonly calls: readonly ForeseenCall[];
  readonly meter: PromptMeter;
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly measured: readonly MeasuredStep[];
};

type Loads = Record<Scenario, CallLoad>;
type LoadedCall = { readonly call: ForeseenCall; readonly loads: Loads };

/** Adds up what the calls of a run will take, for each stage and each model. */
export function estimateRun(input: EstimateInput): Estimate {
  const loaded = loadCalls(input);
  const parts = [...Map.groupBy(loaded, ({ call }) => `${call.job.stage}\n${call.model}`)].map(
    ([, list]) => ({ ...placeOf(list[0]!.call), ...amountsOf(list) }),
  );
  const used = new Set(input.calls.map(({ model }) => model));
  return {
    process: input.process,
    ...sumAmounts(parts),
    stages: sumBy(parts, (part) => part.stage).map(([stage, one]) => ({ stage, ...one })),
    models: sumBy(parts, (part) => part.model).map(([model, one]) => ({ model, ...one })),
    parts,
    additions: {
      continuation: additionOf(loaded, ({ continuation }) => continuation),
      repetition: additionOf(loaded, ({ repetition }) => repetition),
      compression: {
        calls: sumLoads(loaded, ({ removedTokens }) => (removedTokens > 0 ? 1 : 0)),
        removedTokens: sumLoads(loaded, ({ removedTokens }) => removedTokens),
      },
    },
    unpriced: [...used].filter((model) => !input.models.get(model)?.price),
    learnedDocuments: input.measured.reduce((sum, one) => sum + one.documents, 0),
  };
}

function loadCalls({ calls, meter, models, measured }: EstimateInput): LoadedCall[] {
  const sizeOf = createAnswerSizes(meter, measured);
  const byIdentity = new Map(calls.map((call) => [call.job.identity, call]));
  const answerOf = (call: ForeseenCall) => sizeOf(call, models.get(call.model)!);
  return calls.map((call) => {
    const parts = meter.measurePrompt(call);
    const ratios = parts.inputs.map(({ from }) => {
      const author = from === null ? undefined : byIdentity.get(from);
      return author ? answerOf(author).ratio : AS_IT_IS;
    });
    const load = (scenario: Scenario): CallLoad =>
      loadOf({ parts, ratios }, answerOf(call), models.get(call.model)!, scenario);
    return { call, loads: { low: load('low'), middle: load('middle'), high: load('high') } };
  });
}

/** What is there before the run has the size that it has. */
const AS_IT_IS: Range = { low: 1, middle: 1, high: 1 };

const placeOf = ({ job, model }: ForeseenCall) => ({ stage: job.stage, model });

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

/** Whole numbers, so that the parts add up to the sums that are shown. */
function sumLoads(list: readonly LoadedCall[], value: (load: CallLoad) => number): Range {
  const sum = (scenario: Scenario): number =>
    Math.round(list.reduce((total, { loads }) => total + value(loads[scenario]), 0));
  const middle = sum('middle');
  // Rates of one's own making may be dearer for cached input, which is cheaper everywhere else.
  return { low: Math.min(sum('low'), middle), middle, high: Math.max(sum('high'), middle) };
}

function sumBy<T extends Amounts>(
  parts: readonly T[],
  key: (part: T) => string,
): [string, Amounts][] {
  return [...Map.groupBy(parts, key)].map(([name, list]) => [name, sumAmounts(list)]);
}

function sumAmounts(parts: readonly Amounts[]): Amounts {
  const add = (pick: (part: Amounts) => Range | null): Range | null =>
    parts.map(pick).reduce((sum, one) => addRanges(sum, one), NOTHING);
  return {
    calls: add((part) => part.calls)!,
    inputTokens: add((part) => part.inputTokens)!,
    outputTokens: add((part) => part.outputTokens)!,
    costUsd: add((part) => part.costUsd),
  };
}

const NOTHING: Range = { low: 0, middle: 0, high: 0 };

function addRanges(a: Range | null, b: Range | null): Range | null {
  if (a === null || b === null) return null;
  return { low: a.low + b.low, middle: a.middle + b.middle, high: a.high + b.high };
}

const mapRange = ({ low, middle, high }: Range, change: (value: number) => number): Range => ({
  low: change(low),
  middle: change(middle),
  high: change(high),
});
