import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { searchCostMicros } from '../models/search-prices.ts';
import { newId } from '../platform/ids.ts';
import { type HoldResult, holdFunds, postCall, voidHold } from './holds.ts';
import { postAnswered } from './post-answered.ts';

/** The purpose under which the ledger knows searches of the web. */
export const SEARCH = 'search' as const;

/** Searches of the web that are about to be made with one service. */
export type Searches = {
  readonly service: string;
  readonly count: number;
  /** The session that searches; the user's wallet pays where null. */
  readonly sessionId: string | null;
};

/** Holds what searches cost, in a transaction; null where they are free. */
export async function holdSearches(
  tx: Transaction,
  callId: string,
  searches: Searches,
): Promise<HoldResult | null> {
  const usdMicros = searchCostMicros(searches.service, searches.count);
  if (usdMicros === 0) return null;
  const { service: provider, sessionId } = searches;
  const worst = { usdMicros, tokens: 0, inputUsdMicros: usdMicros, inputTokens: 0 };
  return holdFunds(tx, { callId, purpose: SEARCH, sessionId, provider, ...worst });
}

/** Posts searches that are held, as estimated: at list price. Returns the posting. */
export const postSearches = (tx: Transaction, callId: string, searches: Searches) =>
  postCall(
    tx,
    { callId, purpose: SEARCH },
    {
      usdMicros: searchCostMicros(searches.service, searches.count),
      tokens: 0,
      estimated: true,
      details: { model: searches.service, price: null, usage: null, searches: searches.count },
    },
  );

/**
 * Makes searches whose cost is held before they leave. `work` calls `onAnswered` for each that the
 * service answered: those are posted, also where a later one fails or the work is aborted, and the
 * rest of the hold is released. `refuse` turns a refusal of the wallet or a budget into an error.
 */
export async function chargeSearches<T>(
  place: { readonly database: Database; readonly tenantId: string },
  searches: Searches,
  refuse: (held: HoldResult) => Error,
  work: (onAnswered: () => void) => Promise<T>,
): Promise<T> {
  const { database, tenantId } = place;
  const callId = newId();
  const held = await database.asTenant(tenantId, (tx) => holdSearches(tx, callId, searches));
  if (held === null) return work(() => {});
  if (held.outcome !== 'held') throw refuse(held);
  let answered = 0;
  try {
    return await work(() => {
      answered += 1;
    });
  } finally {
    const done = { ...searches, count: answered };
    if (answered === 0)
      await database.asTenant(tenantId, (tx) => voidHold(tx, { callId, purpose: SEARCH }));
    else await postAnswered(place, (tx) => postSearches(tx, callId, done));
  }
}
