import type { Database } from '../db/database.ts';
import type { Job } from '../jobs/types.ts';
import { countUsage, UNKNOWN_USAGE } from '../models/count-usage.ts';
import { originOf } from '../models/model-id.ts';
import type { Assembled } from './assemble.ts';
import type { Answered } from './call.ts';
import { readChainCost } from './chain-cost.ts';
import { dropAbandoned } from './end-call.ts';

/**
 * Takes what was saved of a call whose process died as its answer, so that it is paid and continued
 * instead of asked for again; null where there is no such text. An empty call is dropped here and not
 * in the next link of the chain, which would begin to count takeovers anew: a request that ends its
 * process every time would be sent for ever.
 */
export async function recover(
  database: Database,
  job: Job,
  assembled: Assembled,
): Promise<Answered | null> {
  if (!assembled.abandoned) return null;
  const { callId, text, price } = assembled.abandoned;
  if (text === '') {
    await dropAbandoned(database, job, callId);
    return null;
  }
  const usage = await countUsage(assembled.request, { usage: UNKNOWN_USAGE, text });
  const origin = originOf(assembled.model);
  const answer = { text, finishReason: 'interrupted' as const, usage, responseId: null, origin };
  const chainCost = await database.asTenant(job.tenantId, (tx) => readChainCost(tx, job.chainId));
  return { ...assembled, callId, price, chainCost, answer, isCutHere: true, checkpoint: null };
}
