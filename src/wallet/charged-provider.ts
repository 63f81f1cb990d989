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
import { type Allowance, AllowanceGate, type Amounts } from './allowance.ts';
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
  /** What the calls may cost together, beside the limits of the store. */
  readonly most?: Allowance | undefined;
  /** Told with the id of each call that was posted. */
  readonly onPosted?: (call: PostedCall) => void;
};

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
  const allowance = new AllowanceGate(payer.most);
  return {
    generate: async (request, options = {}) => {
      const price = await findPrice(request.model, payer.config);
      const worst = await weigh(request, price, payer.config);
      const call = { callId: newId(), model: request.model, price };
      const short = (why: string): DialecticError => fundsShort(request.model, why);
      const end = await allowance.take(worst, short, options.signal);
      let used = NOTHING;
      try {
        await hold(payer, call, worst, options.signal);
        return await send(provider, payer, call, { request, options, worst }, (paid) => {
          used = paid;
        });
      } finally {
        end(used);
      }
    },
  };
}

const NOTHING: Amounts = { usdMicros: 0, tokens: 0 };

type Generate = Parameters<ModelProvider['generate']>;
type Sent = {
  readonly request: ModelRequest;
  readonly options: NonNullable<Generate[1]>;
  readonly worst: Amounts;
};

/** Sends a call that is held and posts it, answered or failed; `notePaid` is told what it used. */
async function send(
  provider: ModelProvider,
  payer: Payer,
  call: Call,
  { request, options, worst }: Sent,
  notePaid: (paid: Amounts) => void,
): Promise<ModelResult> {
  let result: ModelResult;
  try {
    result = await provider.generate(request, options);
  } catch (thrown) {
    const { usage, responseId = null } = toDialecticError(thrown).details as Failed;
    const paid = usage === undefined ? null : paidUsage(usage);
    notePaid(await settle(payer, call, paid, responseId));
    throw thrown;
  }
  // Outside the `try`: a store that fails here must not void the hold of a paid call.
  notePaid(worst);
  const usage = result.text === '' && result.error ? null : await countUsage(request, result);
  const { responseId } = result.raw;
  notePaid(await settle(payer, call, usage ?? paidUsage(result.usage), responseId));
  return { ...result, usage: usage ?? result.usage };
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

/** Posts what a call used, and returns it; null gives its hold back. */
async function settle(
  payer: Payer,
  { callId, model, price }: Call,
  usage: TokenUsage | null,
  responseId: string | null,
): Promise<Amounts> {
  const { database, tenantId, purpose, onPosted } = payer;
  const key = { callId, purpose };
  if (usage === null) {
    await database.asTenant(tenantId, (tx) => voidHold(tx, key));
    return NOTHING;
  }
  const used = {
    usdMicros: price === null ? 0 : costMicros(usage, price),
    tokens: usage.inputTokens + usage.outputTokens,
  };
  const details = { model, price, usage, responseId };
  const cost = { ...used, estimated: usage.estimated, details };
  await postAnswered(payer, (tx) => postCall(tx, key, cost));
  onPosted?.({ callId, model });
  return used;
}
