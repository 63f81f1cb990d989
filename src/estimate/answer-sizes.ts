import type { ForeseenCall } from './foresee-calls.ts';
import type { MeasuredStep, ModelFacts, PromptMeter, Range } from './types.ts';

/** Spread of document sizes for a model without history. */
const UNSEEN: Range = { low: 0.6, middle: 1, high: 1.7 };
/** How far one strays from what it wrote in the same step of another run. */
const SEEN: Range = { low: 0.75, middle: 1, high: 1.4 };
/** Some models think before they write and bill it; no catalogue says which and how much. */
const UNSEEN_THINKING = 1;

/** How large an answer becomes. */
export type AnswerSize = {
  /** As billed. */
  readonly tokens: Range;
  /** Relative to the document of the expected size. */
  readonly ratio: Range;
};

/** Sizes of answers: measured in the same step by the same model, by others, or expected. */
export function createAnswerSizes(
  meter: PromptMeter,
  measured: readonly MeasuredStep[],
): (call: ForeseenCall, facts: ModelFacts) => AnswerSize {
  const known = new Map<string, AnswerSize>();
  const byStep = Map.groupBy(measured, ({ stage, step }) => `${stage}/${step}`);
  return (call, facts) => {
    const key = `${call.job.stage}/${call.job.step}`;
    const place = `${key}/${call.model}`;
    const found = known.get(place) ?? sizeOf(call, facts, meter, byStep.get(key) ?? []);
    known.set(place, found);
    return found;
  };
}

function sizeOf(
  call: ForeseenCall,
  { tokenFactor }: ModelFacts,
  meter: PromptMeter,
  measured: readonly MeasuredStep[],
): AnswerSize {
  const expected = meter.measureAnswer(call);
  const own = measured.find(({ model }) => model === call.model);
  if (own) {
    return {
      tokens: scale(SEEN, own.outputTokens),
      ratio: scale(SEEN, own.contentTokens / expected.contentTokens),
    };
  }
  const ratio = scale(UNSEEN, ratioOfOthers(call.model, measured, expected.contentTokens));
  const thinking = isOffline(call.model) ? 0 : UNSEEN_THINKING * ratio.middle;
  return {
    ratio,
    tokens: {
      low: expected.tokens * ratio.low * tokenFactor.low,
      middle: expected.tokens * ratio.middle * tokenFactor.middle,
      high: expected.tokens * (ratio.high + thinking) * tokenFactor.high,
    },
  };
}

/** How much other models wrote there. */
function ratioOfOthers(model: string, measured: readonly MeasuredStep[], expected: number): number {
  const alike = measured.filter((one) => isAlike(one.model, model));
  const documents = alike.reduce((sum, one) => sum + one.documents, 0);
  const tokens = alike.reduce((sum, one) => sum + one.contentTokens * one.documents, 0);
  return documents === 0 ? 1 : tokens / documents / expected;
}

/** Whether one model tells something about the other: the offline author does not. */
export const isAlike = (a: string, b: string): boolean => isOffline(a) === isOffline(b);

const isOffline = (model: string): boolean => model.startsWith('offline/');

const scale = ({ low, middle, high }: Range, by: number): Range => ({
  low: low * by,
  middle: middle * by,
  high: high * by,
});
