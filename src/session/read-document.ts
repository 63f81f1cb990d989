import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { isId } from '../platform/ids.ts';
import { adviseDocuments, nameOf } from './name-document.ts';
import type { SessionView } from './read.ts';

/** A document of a session with its text. */
export type ReadDocument = {
  readonly id: string;
  /** `stage/key@lane`. */
  readonly name: string;
  readonly stage: string;
  readonly key: string;
  readonly lane: number;
  readonly model: string;
  readonly iteration: number;
  readonly version: number;
  /** Null where the recipe renders none, or it has not been rendered yet. */
  readonly markdown: string | null;
  /** The sections of its contract. */
  readonly content: unknown;
};

/** Reads a document by its id, replaced versions included. */
export async function readDocument(
  tx: Transaction,
  session: SessionView,
  id: string,
): Promise<ReadDocument> {
  const [row] = isId(id) ? await readRow(tx, session, id) : [];
  if (!row) {
    const action = adviseDocuments(session.id);
    throw new DialecticError('not_found', `The session has no document ${id}.`, { action });
  }
  return { ...row, name: nameOf(row) };
}

const readRow = (tx: Transaction, session: SessionView, id: string) =>
  tx.query<Omit<ReadDocument, 'name'>>(
    `select d.id, d.stage_key as stage, d.document_key as key, l.ordinal as lane, l.model,
       d.iteration, d.version, b.body as markdown, d.content
     from documents d join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
     left join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
     where d.tenant_id = $1 and d.session_id = $2 and d.id = $3`,
    [tx.tenantId, session.id, id],
  );
