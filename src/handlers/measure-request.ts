import type { Database } from '../db/database.ts';
import { countPlainly, loadTokenCounter, safetyOf, type TokenCounter } from '../models/tokens.ts';
import type { ModelRequest } from '../models/types.ts';
import { elapsedMs } from '../platform/clock.ts';

/** How tokens are counted for one model, as `dialectic show --context` says it. */
export type Counting = {
  /**
   * exact: by the model's own tokenizer. learned: by OpenAI's, times what the provider reported for
   * each token of earlier requests. estimated: the same with a factor on the safe side.
   */
  readonly method: 'exact' | 'learned' | 'estimated';
  /** The model's tokens for one of the tokenizer, margin included. */
  readonly factor: number;
  /** By which share the count may differ from the provider's. */
  readonly errorShare: number;
  /** Calls that the factor was learned from. */
  readonly calls: number;
};

/** Counts the texts of requests to one model. */
export type Measure = Counting & {
  readonly count: (text: string) => number;
  /** Everything that a request sends, with the framing of its messages and its schema. */
  readonly countRequest: (request: ModelRequest) => number;
  /** The same in tokens of the tokenizer, as stored with the call for later ones to learn from. */
  readonly countPlainly: (request: ModelRequest) => number;
  /** The model's tokens for those of the tokenizer. */
  readonly scale: (tokens: number) => number;
};

/** Providers that OpenAI's tokenizer is exact for, but for the framing of messages. */
const EXACT_ERROR = 0.01;
/** Fewer calls than this teach nothing. */
const LEAST_CALLS = 3;
const MOST_CALLS = 50;
/** In short requests the provider's own framing weighs more than it does in those that fill a window. */
const LEAST_TOKENS = 1_000;
/** What is added to the highest ratio of the calls that were looked at. */
const LEARNED_MARGIN = 0.02;
const STEPS = 20;

/** How tokens are counted for a model: learned from its last calls, where there are some. */
export async function loadMeasure(
  database: Database,
  tenantId: string,
  model: string,
): Promise<Measure> {
  const counter = await loadTokenCounter();
  return createMeasure(counter, model, await rememberRatios(database, tenantId, model));
}

/** For so long the ratios of a model stay as they were read: each call adds one to fifty. */
const REMEMBER_MS = 5_000;

type Remembered = { atMs: number; ratios: Promise<readonly number[]> };
const remembered = new WeakMap<Database, Map<string, Remembered>>();

/**
 * The ratios as they were read in the last seconds: asking for each call costs a transaction. Older ones
 * are read again while the call that asks goes on with what is known.
 */
function rememberRatios(
  database: Database,
  tenantId: string,
  model: string,
): Promise<readonly number[]> {
  const known = remembered.get(database) ?? new Map<string, Remembered>();
  remembered.set(database, known);
  const key = `${tenantId}/${model}`;
  const found = known.get(key);
  if (found && elapsedMs() - found.atMs < REMEMBER_MS) return found.ratios;
  const ratios = readRatios(database, tenantId, model);
  if (!found) {
    known.set(key, { atMs: elapsedMs(), ratios });
    ratios.catch(() => known.delete(key));
    return ratios;
  }
  found.atMs = elapsedMs();
  ratios.then(
    () => {
      found.ratios = ratios;
    },
    () => {}, // the next one who asks tries again
  );
  return found.ratios;
}

/** Counts with the ratios of reported to counted tokens in the last calls of the model. */
export function createMeasure(
  counter: TokenCounter,
  model: string,
  ratios: readonly number[],
): Measure {
  const counting = chooseCounting(model, ratios);
  const scale = (tokens: number): number => Math.ceil(tokens * counting.factor);
  const plainly = (request: ModelRequest): number => countPlainly(counter, request);
  return {
    ...counting,
    count: (text) => scale(counter.countPlain(text)),
    countRequest: (request) => scale(plainly(request)),
    countPlainly: plainly,
    scale,
  };
}

function chooseCounting(model: string, ratios: readonly number[]): Counting {
  if (ratios.length >= LEAST_CALLS) {
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
    // In coarse steps: the turns of one document are to be shortened to the same sizes.
    const factor = Math.ceil(most * (1 + LEARNED_MARGIN) * STEPS) / STEPS;
    const errorShare = factor / least - 1;
    return { method: 'learned', factor, errorShare, calls: ratios.length };
  }
  const factor = safetyOf(model);
  if (factor === 1) return { method: 'exact', factor, errorShare: EXACT_ERROR, calls: 0 };
  return { method: 'estimated', factor, errorShare: factor - 1, calls: 0 };
}

/** Reported tokens for each that was counted, in the newest calls of a model. */
async function readRatios(
  database: Database,
  tenantId: string,
  model: string,
): Promise<readonly number[]> {
  const rows = await database.readsOf(tenantId).query<{ ratio: number }>(
    `select input_tokens::float8 / counted_tokens as ratio from model_calls
     where model = $1 and not usage_estimated and input_tokens > 0
       and counted_tokens >= ${LEAST_TOKENS}
     order by id desc limit ${MOST_CALLS}`,
    [model],
    'read-ratios',
  );
  return rows.map(({ ratio }) => ratio);
}
