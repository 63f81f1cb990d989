import { addNotice } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import type { DocumentAudit } from '../generation/audit-document.ts';
import type { Rerun } from '../generation/rerun.ts';
import { type CitationRecord, faultNotice, type RerunRecord } from '../session/citation-record.ts';
import { laneOf } from '../session/read.ts';
import { ordinalOf } from '../sources/source.ts';
import type { Loaded } from './load.ts';

/** Of so many faults the record keeps the words. */
const MOST_FAULTS = 50;

/** What is kept of an audit with its document. */
export function toRecord(
  { session, step, standing: { rerun, state } }: Pick<Loaded, 'session' | 'step' | 'standing'>,
  audit: DocumentAudit | null,
): CitationRecord | null {
  if (audit === null) return null;
  const { defects, statements, citedStatements, coverage, wanted, cited, orphans } = audit;
  const faults = defects.slice(0, MOST_FAULTS);
  const counts = { statements, citedStatements, coverage, wanted, cited, orphans, faults };
  // A copy has the citations of its original, whose writer may have been asked.
  const record = step.compute === null ? { ...counts, asked: state.audits ?? 0 } : counts;
  return rerun === null ? record : { ...record, rerun: describeRerun(session, rerun) };
}

const describeRerun = ({ lanes }: Loaded['session'], rerun: Rerun): RerunRecord => ({
  tried: rerun.tried,
  given: rerun.given.map((passages) => [...new Set(passages.map(({ id }) => id))]),
  participants: rerun.lanes.flatMap((lane) => {
    const { ordinal, model } = lanes.find(({ id }) => id === lane) ?? {};
    return ordinal === undefined ? [] : [`${ordinal} ${model}`];
  }),
});

/**
 * Saves which sources a document cites, and tells the user where its citations are wrong. Its
 * statements are given at once, behind that of the document.
 */
export async function saveCitations(
  tx: Transaction,
  loaded: Pick<Loaded, 'session' | 'planned' | 'step' | 'standing'>,
  documentId: string,
  audit: DocumentAudit | null,
): Promise<void> {
  const { session, planned } = loaded;
  const record = toRecord(loaded, audit);
  if (audit === null || record === null) return;
  const { stage, documentKey, laneId, iteration } = planned;
  const { ordinal: lane } = laneOf(session, laneId);
  const document = { stage, key: documentKey, lane, iteration };
  await Promise.all([
    ...(audit.uses.length > 0 ? [saveUses(tx, session.projectId, documentId, audit.uses)] : []),
    ...(record.faults.length > 0 ? [addNotice(tx, faultNotice(session.id, document, record))] : []),
  ]);
}

const saveUses = (
  tx: Transaction,
  projectId: string,
  documentId: string,
  uses: DocumentAudit['uses'],
) =>
  Promise.all(
    uses.map(({ source, kind, place }, at) =>
      tx.queryForAll(
        `insert into source_uses (tenant_id, document_id, ordinal, project_id, source, kind, place)
         select current_tenant(), u.*
         from unnest($1::uuid[], $2::int[], $3::uuid[], $4::int[], $5::text[], $6::text[]) as u`,
        [documentId, at + 1, projectId, ordinalOf(source), kind, place],
        'save-uses',
        'documents',
      ),
    ),
  );
