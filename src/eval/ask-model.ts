import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { joinChunks, type Piece } from '../generation/join-chunks.ts';
import type { JsonRecord } from '../generation/json-reader.ts';
import {
  type ChainState,
  FIRST_TURN,
  type GiveUpCode,
  judgeAnswer,
} from '../generation/judge-answer.ts';
import type { ContractSchema } from '../generation/loosen-contract.ts';
import { type NextTurn, turnMessages } from '../generation/turn-messages.ts';
import { backoffMs } from '../jobs/backoff.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import type { ModelProvider, ModelRequest, ModelResult, TokenUsage } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import { sleep } from '../platform/clock.ts';
import { random } from '../platform/random.ts';
import type { SpendingTally } from './spending.ts';

export type EvalDeps = {
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** When it aborts nothing more is asked; calls under way end, since they are paid. */
  readonly signal?: AbortSignal | undefined;
};

/** One thing that a model is asked for, outside of any session. */
type Question = {
  readonly model: string;
  readonly system: string;
  /** What several questions share; it comes first, so that provider caches keep it. */
  readonly material: string;
  readonly prompt: string;
  /** `draft`, `judgement` and so on; the prompt ends with `Deliverable: eval/KEY`. */
  readonly key: string;
  readonly contract: ContractSchema;
  /** What the contract cannot say. */
  readonly findProblems?: (content: JsonRecord) => readonly string[];
};

/** Where the conversation about one answer stands. */
type Standing = {
  readonly pieces: readonly Piece[];
  readonly state: ChainState;
  readonly turn: NextTurn | null;
};

const MOST_REPAIRS = 1;
const MOST_TRIES = 4;
const LIMIT = { maxTurns: 24, maxIdleTurns: 3, maxChars: 1_000_000 };
const BEGINNING: Standing = { pieces: [], state: FIRST_TURN, turn: null };

/**
 * Asks until the answer is whole and keeps its contract: one that was cut off is continued, one
 * that does not fit is asked for again once; then the error says what is wrong.
 */
export async function askModel(
  { provider, config, signal }: EvalDeps,
  question: Question,
  tally: SpendingTally,
): Promise<JsonRecord> {
  const price = await findPrice(question.model, config);
  const { maxOutputTokens } = await findWindow(question.model, config);
  const call = async (turn: NextTurn | null): Promise<ModelResult> => {
    const request = toRequest(question, turn, maxOutputTokens);
    requireGoingOn(signal);
    return callPatiently(provider, request, (usage) => tally.add(usage, price), signal);
  };
  let standing = BEGINNING;
  for (;;) {
    const result = await call(standing.turn);
    const next = settle(question, standing, result);
    if (next.kind === 'document') return next.content;
    standing = next.standing;
  }
}

/** Throws `run_stopped` for an evaluation that its caller has stopped. */
export function requireGoingOn(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new DialecticError('run_stopped', 'The evaluation was stopped; what was saved is kept.', {
    action: 'The same command goes on where it was stopped.',
  });
}

type Settled =
  | { readonly kind: 'document'; readonly content: JsonRecord }
  | { readonly kind: 'open'; readonly standing: Standing };

function settle(question: Question, standing: Standing, result: ModelResult): Settled {
  const { pieces, state } = standing;
  const { contract } = question;
  const sections = Object.keys(contract['properties'] as object);
  const soFar = joinChunks(pieces).text;
  // What is still wrong is not let pass here, as it is in a session: see findProblems below.
  const countRead = () => `${question.material}${question.prompt}${soFar}`.length;
  const rendering = { kind: 'rendered' as const, body: null };
  const shown = { findDefects: () => [], tryRendering: () => rendering };
  const lenient = { given: [], limit: LIMIT, countRead, ...shown };
  const verdict = judgeAnswer({ soFar, result, state, contract, sections, ...lenient });
  if (verdict.kind === 'give-up') throw refuse(question, verdict.code, verdict.reason);
  const all = [...pieces, { text: result.text, finished: result.finishReason === 'stop' }];
  const { added } = joinChunks(all);
  // Nothing is left for later here, so that an answer is never a part of one.
  if (verdict.kind === 'continue' || verdict.kind === 'part') {
    const turn: NextTurn = { kind: 'continue', written: added };
    return { kind: 'open', standing: { pieces: all, state: verdict.state, turn } };
  }
  const found = verdict.kind === 'document' ? (question.findProblems?.(verdict.content) ?? []) : [];
  if (verdict.kind === 'document' && found.length === 0) return verdict;
  const problems =
    verdict.kind === 'document' ? found.map((one) => `- ${one}`).join('\n') : verdict.problems;
  if (state.repairs >= MOST_REPAIRS) {
    const why = `asked again, it still is not what was asked for:\n${problems}`;
    throw refuse(question, 'model_output_invalid', why);
  }
  const turn: NextTurn = { kind: 'repair', written: added, problems };
  const repairs = state.repairs + 1;
  return { kind: 'open', standing: { pieces: [], state: { ...FIRST_TURN, repairs }, turn } };
}

const refuse = ({ model, key }: Question, code: GiveUpCode, reason: string): DialecticError =>
  new DialecticError(code, `${model}, ${key}: ${reason}`, { details: { model } });

function toRequest(
  { model, system, material, prompt, key, contract }: Question,
  turn: NextTurn | null,
  maxOutputTokens: number | null,
): ModelRequest {
  const name = `eval__${key}`;
  const own = turnMessages(prompt, turn, { stage: 'eval', documentKey: key });
  return {
    model,
    system,
    messages: [{ role: 'user', content: material }, ...own],
    schema: { name, schema: { ...contract, title: name } },
    continues: turn?.kind === 'continue',
    cacheablePrefixCount: 1,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  };
}

/** Sends a request again after a passing fault, as the job engine does for a session's calls. */
async function callPatiently(
  provider: ModelProvider,
  request: ModelRequest,
  count: (usage: TokenUsage | undefined) => void,
  signal: AbortSignal | undefined,
): Promise<ModelResult> {
  for (let tries = 1; ; tries++) {
    const outcome = await provider.generate(request).catch(toDialecticError);
    let error: DialecticError;
    if (outcome instanceof DialecticError) {
      if (outcome.details['sent'] !== false) count(outcome.details['usage'] as TokenUsage);
      error = outcome;
    } else {
      count(outcome.usage);
      if (outcome.text.trim() !== '' || !outcome.error) return outcome;
      error = outcome.error;
    }
    if (!error.retryable || tries >= MOST_TRIES) throw error;
    await sleep(backoffMs(tries, error, random()), signal);
    requireGoingOn(signal);
  }
}
