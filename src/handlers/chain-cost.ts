import type { Transaction } from '../db/transaction.ts';
import type { AnswerOrigin } from '../models/types.ts';

/** What the calls of a chain cost in micro-USD: now, and of replayed answers then; null = unknown. */
export type ChainCost = {
  readonly cost: number | null;
  readonly recorded: number | null;
  readonly isReplayed: boolean;
};

/** Of a chain without calls. */
export const NO_CALLS: ChainCost = { cost: null, recorded: null, isReplayed: false };

/** Of what code has made: no model was asked, so that nothing was charged. */
export const NO_COST: ChainCost = { ...NO_CALLS, cost: 0 };

/** The cost of a chain's calls so far. */
export async function readChainCost(tx: Transaction, chainId: string): Promise<ChainCost> {
  const rows = await tx.queryForAll<ChainCost & { readonly chainId: string }>(
    `select k.chain_id as "chainId", c.cost, c.recorded, c."isReplayed"
     from unnest($1::uuid[]) as k (chain_id)
     cross join lateral (
       select sum(cost_micros)::float8 as cost,
         case when bool_and(origin <> 'recording' or recorded_cost_micros is not null)
           then sum(recorded_cost_micros)::float8 end as recorded,
         coalesce(bool_or(origin = 'recording'), false) as "isReplayed"
       from model_calls where job_id = any (k.chain_id || array(
         select l.id from jobs l where l.chain_id = k.chain_id and l.chain_id <> l.id))) as c`,
    [chainId],
    'read-chain-costs',
    'locks',
  );
  const { cost, recorded, isReplayed } = rows.find((row) => row.chainId === chainId) ?? NO_CALLS;
  return { cost, recorded, isReplayed };
}

/** The cost of a chain with one more call, which cost so much now or in its recorded run. */
export function addCallCost(
  before: ChainCost,
  call: { readonly cost: number | null; readonly origin: AnswerOrigin },
): ChainCost {
  const cost = call.cost === null ? before.cost : (before.cost ?? 0) + call.cost;
  if (call.origin.kind !== 'recording') return { ...before, cost };
  const { costMicros } = call.origin;
  const isKnown = costMicros !== null && (!before.isReplayed || before.recorded !== null);
  const recorded = isKnown ? (before.recorded ?? 0) + costMicros : null;
  return { cost, recorded, isReplayed: true };
}

const dollars = (micros: number | null): string =>
  micros === null ? 'unknown' : `$${(micros / 1e6).toFixed(4)}`;

/** The cost as a page says it. */
export function describeCost({ cost, recorded, isReplayed }: ChainCost): string {
  if (isReplayed) return `${dollars(recorded)} in the recorded run, nothing in this one`;
  return dollars(cost);
}
