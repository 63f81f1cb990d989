import type { ModelResult } from '../models/types.ts';
import type { ContinuationLimit } from '../recipe/types.ts';
import { type ContractSchema, checkContract, describeProblems } from './check-contract.ts';
import { joinChunk } from './join-chunks.ts';
import type { JsonRecord } from './json-reader.ts';
import { parseOutput } from './parse-output.ts';

/** Where a chain of calls for one document stands; travels in the payload of its next link. */
export type ChainState = {
  readonly turns: number;
  /** Turns in a row that added nothing. */
  readonly idle: number;
  readonly repairs: number;
};

export const FIRST_TURN: ChainState = { turns: 0, idle: 0, repairs: 0 };
const MOST_REPAIRS = 2;

export type Verdict =
  | { readonly kind: 'document'; readonly content: JsonRecord }
  | { readonly kind: 'continue'; readonly text: string; readonly state: ChainState }
  | {
      readonly kind: 'repair';
      readonly text: string;
      readonly problems: string;
      readonly state: ChainState;
    }
  | {
      readonly kind: 'give-up';
      readonly code: 'continuation_exhausted' | 'model_output_invalid' | 'model_refused';
      readonly reason: string;
    };

export type Judged = {
  /** The text before this turn; empty at the first turn and after a request to write anew. */
  readonly soFar: string;
  readonly result: Pick<ModelResult, 'text' | 'finishReason'>;
  readonly state: ChainState;
  readonly contract: ContractSchema;
  readonly sections: readonly string[];
  /** What the model was shown; an answer that only repeats it is refused. */
  readonly given: readonly unknown[];
  readonly limit: ContinuationLimit;
};

/** Decides what a turn has brought: a document, the need to go on or to write anew, or an end. */
export function judge(judged: Judged): Verdict {
  const { soFar, result, contract, sections } = judged;
  const joint = joinChunk(soFar, result.text);
  const { text } = joint;
  const grew = text.length > soFar.length;
  if (result.finishReason === 'content_filter') {
    return { kind: 'give-up', code: 'model_refused', reason: 'the provider withheld the answer' };
  }
  const finished = result.finishReason === 'stop';
  const parsed = parseOutput(text, { finished, sections });
  if (parsed.kind === 'document') {
    const check = checkContract(contract, parsed.content, judged.given);
    if (check.kind === 'valid') return { kind: 'document', content: parsed.content };
    return askAgain(judged, text, describeProblems(check.problems));
  }
  const cut = !finished || parsed.kind === 'truncated';
  if (cut && (text.trim() !== '' || !finished)) return goOn(judged, text, grew);
  return askAgain(judged, text, `- ${parsed.problem}`);
}

function goOn({ state, limit }: Judged, text: string, grew: boolean): Verdict {
  const next = { ...state, turns: state.turns + 1, idle: grew ? 0 : state.idle + 1 };
  if (next.turns >= limit.maxTurns || next.idle >= limit.maxIdleTurns) {
    const reason = `${next.turns} turns, ${next.idle} of them without progress`;
    return { kind: 'give-up', code: 'continuation_exhausted', reason };
  }
  if (text.length > limit.maxChars) {
    const reason = `${text.length} characters`;
    return { kind: 'give-up', code: 'continuation_exhausted', reason };
  }
  return { kind: 'continue', text, state: next };
}

function askAgain({ state }: Judged, text: string, problems: string): Verdict {
  if (state.repairs >= MOST_REPAIRS) {
    return { kind: 'give-up', code: 'model_output_invalid', reason: problems };
  }
  return {
    kind: 'repair',
    text,
    problems,
    state: { turns: 0, idle: 0, repairs: state.repairs + 1 },
  };
}
