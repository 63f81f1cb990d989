import type { Transaction } from '../db/transaction.ts';

/** How much is gone with a project. */
type Erased = {
  readonly sessions: number;
  /** Versions of documents. */
  readonly documents: number;
  /** Of texts that no other project holds. */
  readonly bytes: number;
};

/**
 * Erases a project for good, with the jobs, calls, texts and events of its sessions; the ledger stays.
 * Refused while a session of it runs or a hold of it is open. The transaction must have locked no row
 * of the project, or two that erase it would deadlock.
 */
export const eraseProject = (tx: Transaction, projectId: string): Promise<Erased> =>
  tx.queryOne<Erased>(
    `select erased_sessions as sessions, erased_documents as documents, erased_bytes as bytes
     from erase_project($1, $2)`,
    [tx.tenantId, projectId],
  );
