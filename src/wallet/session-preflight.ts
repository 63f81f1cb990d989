import type { Transaction } from '../db/transaction.ts';
import { newId } from '../platform/ids.ts';
import { holdFunds, postCall } from './holds.ts';
import { refundCall } from './ledger.ts';

/** The purpose of the calls that ask before a run whether its models answer. */
export const PREFLIGHT = 'preflight' as const;

type Asked = {
  readonly posting: number;
  readonly call: string;
  readonly provider: string;
  readonly usdMicros: number;
  readonly tokens: number;
  readonly estimated: boolean;
  readonly details: Readonly<Record<string, unknown>>;
};

/**
 * Books the preflight's calls, which the user's wallet has paid, over to the session that they were made
 * for: in its project's wallet and inside its budgets. Postings are never changed, so each is posted
 * anew and the first one refunded. One that the session's limits do not cover stays where it is.
 */
export async function bookPreflight(
  tx: Transaction,
  sessionId: string,
  calls: readonly string[],
): Promise<void> {
  if (calls.length === 0) return;
  for (const asked of await readUnbooked(tx, calls)) {
    const { posting, provider, usdMicros, tokens, estimated, details } = asked;
    const key = { callId: newId(), purpose: PREFLIGHT };
    const worst = { usdMicros, tokens, inputUsdMicros: usdMicros, inputTokens: tokens };
    const { outcome } = await holdFunds(tx, { ...key, ...worst, sessionId, provider });
    if (outcome !== 'held') continue;
    await postCall(tx, key, { usdMicros, tokens, estimated, details });
    const note = `preflight of session ${sessionId}`;
    await refundCall(tx, {
      key: `booked/${asked.call}`,
      postingId: posting,
      usdMicros,
      tokens,
      note,
    });
  }
}

/** Calls of the preflight that no session has yet, with what the user's wallet paid for them. */
function readUnbooked(tx: Transaction, calls: readonly string[]): Promise<Asked[]> {
  return tx.query<Asked>(
    `select p.id::float8 as posting, h.call_id as call, h.provider, p.estimated, p.details,
       coalesce(-sum(e.amount) filter (where e.currency = 'USD'), 0)::float8 as "usdMicros",
       coalesce(-sum(e.amount) filter (where e.currency = 'token'), 0)::float8 as tokens
     from postings p
     join holds h on h.tenant_id = p.tenant_id and h.call_id = p.call_id and h.purpose = $2
     left join (entries e join accounts a on a.tenant_id = e.tenant_id and a.id = e.account_id
         and a.kind = 'user')
       on e.tenant_id = p.tenant_id and e.posting_id = p.id
     where p.call_id = any ($1) and p.key = p.call_id || '/' || $2 and p.session_id is null
       and not exists (select from postings r where r.tenant_id = p.tenant_id and r.refunds = p.id)
     group by p.id, h.call_id, h.provider, p.estimated, p.details order by p.id`,
    [calls, PREFLIGHT],
  );
}
