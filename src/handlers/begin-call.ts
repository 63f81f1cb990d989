import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { type HashedParts, hashParts, missesText, saveRequest } from '../documents/requests.ts';
import { StoredTexts } from '../documents/stored-texts.ts';
import { DialecticError } from '../errors/errors.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelPrice } from '../models/prices.ts';
import type { ModelRequest } from '../models/types.ts';
import { onceFor } from '../text/memo.ts';
import {
  type HoldResult,
  readRefusal,
  requireFunds,
  settleLeftHolds,
  type WorstCase,
} from '../wallet/holds.ts';
import { type ChainCost, NO_CALLS, readChainCost } from './chain-cost.ts';
import type { ShortenedPart } from './fit.ts';

export type CallPurpose = 'document' | 'continuation' | 'repair';

/** The purpose under which the ledger knows the cost of writing a text. */
export const GENERATION = 'generation';

type NewCall = {
  readonly callId: string;
  readonly request: ModelRequest;
  readonly purpose: CallPurpose;
  /** What had to be shortened for the request to fit. */
  readonly shortened: readonly ShortenedPart[];
  readonly provider: string;
  /** What it may cost at most. */
  readonly cost: WorstCase;
  /** Null where it is unknown; then no limit in dollars may be in force. */
  readonly price: ModelPrice | null;
  /** Its tokens by the tokenizer, to compare with what the provider reports; null = not counted. */
  readonly countedTokens: number | null;
};

/** What became of the wish to call, and where it was granted what the chain has cost before. */
type BegunCall = HoldResult & { readonly chainCost: ChainCost };

/** Sets the cost of a request aside and writes its row before it leaves; else changes nothing. */
export async function beginCall(database: Database, job: Job, call: NewCall): Promise<BegunCall> {
  try {
    return await beginWithTexts(database, job, call);
  } catch (thrown) {
    const held = readRefusal(thrown);
    if (!held) throw thrown;
    if (held.outcome === 'held') throw priceUnknown(call.request.model);
    // Rolled back with the rest: the next try finds what they held.
    if (held.outcome !== 'approval') await database.asTenant(job.tenantId, settleLeftHolds);
    return { ...held, chainCost: NO_CALLS };
  }
}

const storedTexts = onceFor((_database: Database) => new StoredTexts());

/** Sends the texts that are not known to be stored, and all of them where that was wrong. */
async function beginWithTexts(database: Database, job: Job, call: NewCall): Promise<BegunCall> {
  const { tenantId } = job;
  const parts = hashParts(call.request);
  const known = storedTexts(database);
  // Apart from the ends of calls, which may wait for longer.
  const group = `${job.sessionId}/begin`;
  const attempt = (stored: StoredTexts): Promise<BegunCall> =>
    database.together(tenantId, group, (tx) => begin(tx, job, call, parts, stored));
  const begun = await attempt(known).catch((thrown: Error) => {
    if (!missesText(thrown)) throw thrown;
    known.forget();
    return attempt(new StoredTexts());
  });
  known.keep(
    tenantId,
    parts.map(({ hash }) => hash),
  );
  return begun;
}

/**
 * One round trip, and one statement of each kind for all calls that begin at once. The money comes last:
 * every call of the tenant waits for the lock on its payer.
 */
async function begin(
  tx: Transaction,
  job: Job,
  call: NewCall,
  parts: HashedParts,
  stored: StoredTexts,
): Promise<BegunCall> {
  const { sessionId } = job;
  const { callId, request, purpose, shortened, provider, cost, price, countedTokens } = call;
  const key = { callId, purpose: GENERATION };
  // A prompt that had to be shortened is one that no plan foresaw, as a repair is.
  const automatic = purpose === 'repair' || shortened.length > 0;
  const columns = [callId, sessionId, job.id, request.model, purpose];
  const values = [...columns, JSON.stringify(shortened), countedTokens];
  const [, chainCost, , , held] = await Promise.all([
    // A takeover is ordered before this transaction, or sees its row.
    requireLease(tx, job),
    readChainCost(tx, job.chainId),
    tx.queryForAll(
      `insert into model_calls
         (tenant_id, id, session_id, job_id, model, purpose, shortened, counted_tokens)
       select current_tenant(), c.* from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[],
         $5::text[], $6::json[], $7::int[]) as c`,
      values,
      'begin-calls',
      'new calls',
    ),
    saveRequest(tx, callId, job.chainId, parts, stored),
    requireFunds(tx, { ...key, ...cost, sessionId, provider, automatic, price }),
  ]);
  return { ...held, chainCost };
}

/** Locks the job's row against a takeover; raises `lease_lost` where one has happened. */
export async function requireLease(tx: Transaction, job: Job): Promise<void> {
  const lease = [job.id, job.leaseToken];
  await tx.queryForAll('select require_leases($1, $2)', lease, 'require-leases', 'locks');
}

function priceUnknown(model: string): DialecticError {
  const message = `Dollars are limited, and the price of ${model} is unknown.`;
  return new DialecticError('price_unknown', message, { details: { model, sent: false } });
}
