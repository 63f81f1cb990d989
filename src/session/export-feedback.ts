import type { Transaction } from '../db/transaction.ts';
import type { FileContent } from '../documents/owned-folder.ts';
import { constructPath, type Work } from '../documents/paths.ts';
import { makeInert } from '../text/safe-markdown.ts';
import type { SessionView } from './read.ts';

/** A piece of feedback as data: when it was given, on what, and the stage that read it. */
export type FeedbackRecord = {
  readonly iteration: number;
  readonly stage: string;
  /** The identity of the document that it is about; null for the stage as a whole. */
  readonly document: string | null;
  readonly question: string | null;
  readonly text: string;
  readonly readBy: { readonly stage: string; readonly iteration: number } | null;
};

type Row = {
  iteration: number;
  stage_key: string;
  document_id: string | null;
  identity: string | null;
  question: string | null;
  body: string;
  created_at: Date;
  read_stage: string | null;
  read_iteration: number | null;
};

/** What people said: one file for each stage and document, and the same as data. */
export async function addFeedbackFiles(
  tx: Transaction,
  session: SessionView,
  works: ReadonlyMap<string, Work>,
  files: Map<string, FileContent>,
): Promise<FeedbackRecord[]> {
  const rows = await tx.query<Row>(
    `select f.iteration, f.stage_key, f.document_id, d.identity, f.question, f.body, f.created_at,
       r.stage_key as read_stage, r.iteration as read_iteration
     from feedback f left join stage_runs r on r.tenant_id = f.tenant_id and r.id = f.stage_run_id
     left join documents d on d.tenant_id = f.tenant_id and d.id = f.document_id
     where f.session_id = $1 order by f.created_at, f.id`,
    [session.id],
  );
  for (const row of rows) {
    const path = pathOf(session, row, works);
    const before = files.get(path);
    const soFar = typeof before === 'string' ? before : '# Feedback\n';
    files.set(path, `${soFar}\n${makeInert(describe(row))}`);
  }
  return rows.map(toRecord);
}

const toRecord = (row: Row): FeedbackRecord => ({
  iteration: row.iteration,
  stage: row.stage_key,
  document: row.identity,
  question: row.question,
  text: row.body,
  readBy:
    row.read_stage === null ? null : { stage: row.read_stage, iteration: row.read_iteration! },
});

/** A document that a later version replaced is not in the folder: its feedback goes to the stage. */
function pathOf(session: SessionView, row: Row, works: ReadonlyMap<string, Work>): string {
  const work = row.document_id === null ? undefined : works.get(row.document_id);
  if (work) return constructPath({ kind: 'document_feedback', ...work });
  return constructPath({
    kind: 'stage_feedback',
    session: session.id.slice(-12),
    iteration: row.iteration,
    stageNumber: session.process.stages.findIndex(({ key }) => key === row.stage_key) + 1,
    stage: row.stage_key,
  });
}

function describe({ question, body, created_at, read_stage, read_iteration }: Row): string {
  const read =
    read_stage === null ? 'not read yet' : `read in pass ${read_iteration}, ${read_stage}`;
  const asked = question === null ? '' : `**${question.replaceAll(/\s+/g, ' ')}**\n\n`;
  return `## ${created_at.toISOString()}, ${read}\n\n${asked}${body.trim()}\n`;
}
