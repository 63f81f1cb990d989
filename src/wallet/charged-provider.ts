import type { Database } from '../db/database.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import { countUsage } from '../models/count-usage.ts';
import { parseModelId } from '../models/model-id.ts';
import { costMicros, findPrice, type ModelPrice } from '../models/prices.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import type { ModelProvider, ModelRequest, ModelResult, TokenUsage } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { formatAmount } from './amounts.ts';
import {
  dropAbandonedHolds,
  type HoldResult,
  holdFunds,
  type OUTSIDE_PURPOSES,
  postCall,
  voidHold,
  type WorstCase,
} from './holds.ts';
import { postAnswered } from './post-answered.ts';
import { worstCase } from './worst-case.ts';

/** Who pays for calls that belong to no job, and what is told of them. */
export type Payer = {
  readonly database: Database;
  readonly tenantId: string;
  readonly config: ModelsConfig;
  readonly purpose: (typeof OUTSIDE_PURPOSES)[number];
  /** The session in whose budget and project the calls are; the user's wallet pays where null. */
  readonly sessionId: string | null;
  /** What the calls may cost together, beside the limits of the store; micro-dollars and tokens. */
  readonly most?: Allowance | undefined;
  /** Told with the id of each call that was posted. */
  readonly onPosted?: (call: PostedCall) => void;
};

export type Allowance = { readonly usdMicros: number | null; readonly tokens: number | null };

type PostedCall = { readonly callId: string; readonly model: string };

/** For a request without a limit to a model whose longest answer is not known. */
const USUAL_OUTPUT = 16_384;
const LOOK_AGAIN_MS = 250;
/** How long a call waits for others that hold what is left. */
const PATIENCE_MS = 30_000;

/**
 * A provider whose every call is held before it leaves and posted when it is answered, as those of a
 * session's jobs are: for calls that belong to no job. A call that the wallet, a budget or `most` does
 * not cover is refused with `funds_short`, and nothing is sent.
 */
export function chargeProvider(provider: ModelProvider, payer: Payer): ModelProvider {
  const left = { usdMicros: payer.most?.usdMicros ?? null, tokens: payer.most?.tokens ?? null };
  return {
    generate: async (request, options = {}) => {
      const price = await findPrice(request.model, payer.config);
      const worst = await weigh(request, price, payer.config);
      requireAllowed(request.model, worst, left);
      const call = { callId: newId(), model: request.model, price };
      await hold(payer, call, worst, options.signal);
      if (left.usdMicros !== null) left.usdMicros -= worst.usdMicros;
      if (left.tokens !== null) left.tokens -= worst.tokens;
      let result: ModelResult;
      try {
        result = await provider.generate(request, options);
      } catch (thrown) {
        const { usage, responseId } = toDialecticError(thrown).details as Failed;
        const paid = usage === undefined ? null : paidUsage(usage);
        await settle(payer, call, paid, responseId ?? null);
        throw thrown;
      }
      // Outside the `try`: a store that fails here must not void the hold of a paid call.
      const usage = result.text === '' && result.error ? null : await countUsage(request, result);
      await settle(payer, call, usage ?? paidUsage(result.usage), result.raw.responseId);
      return { ...result, usage: usage ?? result.usage };
    },
  };
}

type Failed = { readonly usage?: TokenUsage; readonly responseId?: string | null };
type Call = PostedCall & { readonly price: ModelPrice | null };

/** What a provider reports is paid, answer or none; what it does not report is not. */
const paidUsage = (usage: ModelResult['usage']): TokenUsage | null =>
  usage.estimated || usage.inputTokens + usage.outputTokens === 0 ? null : usage;

async function weigh(
  request: ModelRequest,
  price: ModelPrice | null,
  config: ModelsConfig,
): Promise<WorstCase> {
  const counter = await loadTokenCounter();
  const inputTokens = counter.countRequest(request);
  const { maxOutputTokens } = await findWindow(request.model, config);
  return worstCase(price, inputTokens, request.maxOutputTokens ?? maxOutputTokens ?? USUAL_OUTPUT);
}

function requireAllowed(model: string, worst: WorstCase, left: Allowance): void {
  const { usdMicros, tokens } = left;
  if (usdMicros !== null && worst.usdMicros > usdMicros) {
    const rest = `the budget of the run leaves ${formatAmount(usdMicros, 'USD')}`;
    throw fundsShort(model, `${formatAmount(worst.usdMicros, 'USD')} at most, and ${rest}`);
  }
  if (tokens !== null && worst.tokens > tokens) {
    const rest = `the budget of the run leaves ${formatAmount(tokens, 'token')}`;
    throw fundsShort(model, `${formatAmount(worst.tokens, 'token')} at most, and ${rest}`);
  }
}

const LIMITS: Readonly<Record<string, string>> = {
  user: 'the wallet has',
  project: 'the limit of the project leaves',
  session: 'the budget of the run leaves',
  tenant: 'the cap on all spending leaves',
};

/** Holds the worst case; while calls in flight hold the rest it waits for them. */
async function hold(
  { database, tenantId, purpose, sessionId }: Payer,
  { callId, model, price }: Call,
  worst: WorstCase,
  signal?: AbortSignal,
): Promise<void> {
  const { provider } = parseModelId(model);
  const since = elapsedMs();
  for (;;) {
    const held = await database.asTenant(tenantId, async (tx) => {
      await dropAbandonedHolds(tx);
      const result = await holdFunds(tx, { callId, purpose, sessionId, provider, price, ...worst });
      // Thrown within the transaction: what was held is rolled back.
      if (price === null && result.usdLeft !== null) throw priceUnknown(model);
      return result;
    });
    if (held.outcome === 'held') return;
    if (held.outcome !== 'wait') throw refuse(model, worst, held);
    if (elapsedMs() - since > PATIENCE_MS) throw fundsBusy();
    await sleep(LOOK_AGAIN_MS, signal);
    signal?.throwIfAborted();
  }
}

function refuse(model: string, worst: WorstCase, held: HoldResult): DialecticError {
  const currency = held.shortCurrency ?? 'USD';
  const needed = currency === 'USD' ? worst.usdMicros : worst.tokens;
  const left = (currency === 'USD' ? held.usdLeft : held.tokensLeft) ?? 0;
  const limit = LIMITS[held.shortScope ?? 'user'] ?? 'a limit leaves';
  const rest = `${limit} ${formatAmount(Math.max(0, left), currency)}`;
  return fundsShort(model, `${formatAmount(needed, currency)} at most, and ${rest}`);
}

const fundsShort = (model: string, why: string): DialecticError =>
  new DialecticError('funds_short', `A call of ${model} may cost ${why}. Nothing was sent.`, {
    details: { model, why, sent: false },
  });

const fundsBusy = (): DialecticError =>
  new DialecticError('funds_busy', 'Calls in flight hold what is left of the money.', {
    details: { sent: false },
  });

function priceUnknown(model: string): DialecticError {
  const message = `Dollars are limited, and the price of ${model} is unknown.`;
  return new DialecticError('price_unknown', message, { details: { model, sent: false } });
}

/** Posts what a call used; null gives its hold back. */
async function settle(
  payer: Payer,
  { callId, model, price }: Call,
  usage: TokenUsage | null,
  responseId: string | null,
): Promise<void> {
  const { database, tenantId, purpose, onPosted } = payer;
  const key = { callId, purpose };
  if (usage === null) return database.asTenant(tenantId, (tx) => voidHold(tx, key));
  await postAnswered(payer, (tx) =>
    postCall(tx, key, {
      usdMicros: price === null ? 0 : costMicros(usage, price),
      tokens: usage.inputTokens + usage.outputTokens,
      estimated: usage.estimated,
      details: { model, price, usage, responseId },
    }),
  );
  onPosted?.({ callId, model });
}
