import type { Transaction } from '../db/transaction.ts';
import { countNoun } from '../text/count-noun.ts';

/** How much a session has made, counted alike by the screen, lists, the first page and `--json`. */
export type Counts = {
  /**
   * Requests to models that left and have ended: answered, failed or cut off; all passes, tries and
   * parts.
   */
  readonly calls: number;
  /** Documents that people can read, each in its current version: no ballots, no notes of a step. */
  readonly documents: number;
};

/** Two columns, `calls` and `documents`, of a session whose row is `s`. */
export const COUNTS = `
  (select count(*) from model_calls c where c.tenant_id = s.tenant_id and c.session_id = s.id
    and c.status <> 'sent' and was_sent(c.error)) as calls,
  (select count(*) from documents d where d.tenant_id = s.tenant_id and d.session_id = s.id
    and d.kind = 'document' and d.markdown_hash is not null and not d.superseded) as documents`;

/** Counts the calls and the documents of a session. */
export const readCounts = (tx: Transaction, sessionId: string): Promise<Counts> =>
  tx.queryOne<Counts>(`select ${COUNTS} from sessions s where s.id = $1`, [sessionId]);

/** `10 calls in 2 passes, 8 documents`. */
export function tellCounts({ calls, documents }: Counts, passes: number): string {
  const over = passes > 1 ? ` in ${passes} passes` : '';
  return `${countNoun(calls, 'call')}${over}, ${countNoun(documents, 'document')}`;
}
