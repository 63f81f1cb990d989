import type { Transaction } from '../db/database.ts';
import { DialecticError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { SessionView } from './read.ts';

export type NewFeedback = {
  readonly stageKey: string;
  /** The document it is about; null = the stage as a whole. */
  readonly documentId?: string | null;
  /** The open question that it answers. */
  readonly question?: string | null;
  readonly text: string;
};

/** Notes what a person says; the next stage's steps that read feedback are given it. */
export async function addFeedback(
  tx: Transaction,
  session: SessionView,
  feedback: NewFeedback,
): Promise<string> {
  if (!session.process.stages.some((stage) => stage.key === feedback.stageKey)) {
    throw new DialecticError('usage_invalid', `There is no stage ${feedback.stageKey}.`);
  }
  if (feedback.text.trim() === '') throw new DialecticError('usage_invalid', 'Empty feedback.');
  const id = newId();
  await tx.query(
    `insert into feedback
       (tenant_id, id, session_id, iteration, stage_key, document_id, question, body)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      session.tenantId,
      id,
      session.id,
      session.iteration,
      feedback.stageKey,
      feedback.documentId ?? null,
      feedback.question ?? null,
      feedback.text,
    ],
  );
  return id;
}
