import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { promptedStages, readsFeedback, stepsGiven } from '../planning/give-feedback.ts';
import { newId } from '../platform/ids.ts';
import { stageOf } from '../recipe/edges.ts';
import { requireStage } from '../recipe/find-stage.ts';
import { findDocument } from './name-document.ts';
import { readSession, requireSessionId, type SessionView } from './read.ts';

export type NewFeedback = {
  readonly stageKey: string;
  /** The document it is about, by id, short id or name; null = the stage as a whole. */
  readonly document?: string | null;
  /** The open question that it answers. */
  readonly question?: string | null;
  readonly text: string;
};

/** Where a piece of feedback is going to stand in the prompts. */
export type FeedbackReading = {
  readonly stage: string;
  readonly iteration: number;
  readonly steps: readonly string[];
};

export type GivenFeedback = { readonly id: string; readonly readBy: FeedbackReading };

/** Notes what a person says, or refuses what no prompt of this session would ever hold. */
export async function addFeedback(
  tx: Transaction,
  sessionId: string,
  feedback: NewFeedback,
): Promise<GivenFeedback> {
  const session = await readLocked(tx, sessionId);
  if (feedback.text.trim() === '') {
    throw new DialecticError('usage_invalid', 'The feedback is empty; give it a text.');
  }
  const stageKey = requirePrompted(session, feedback.stageKey);
  const named = feedback.document ?? null;
  const document = named !== null ? await findDocument(tx, session, stageKey, named) : null;
  const readBy = await findReading(tx, session, stageKey, document?.key ?? null);
  const id = newId();
  await tx.query(
    `insert into feedback
       (tenant_id, id, session_id, iteration, stage_key, document_id, question, body)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      tx.tenantId,
      id,
      session.id,
      session.iteration,
      stageKey,
      document?.id ?? null,
      feedback.question ?? null,
      feedback.text,
    ],
  );
  return { id, readBy };
}

/** A stage that opens takes up what was given before: giving and opening must not overlap. */
export async function readLocked(tx: Transaction, id: string): Promise<SessionView> {
  requireSessionId(id);
  await tx.query('select 1 from sessions where id = $1 for no key update', [id]);
  return readSession(tx, id);
}

function requirePrompted({ process }: SessionView, wanted: string): string {
  const { key } = requireStage(process, wanted);
  const running = promptedStages(process).map((stage) => stage.key);
  if (running.includes(key)) return key;
  const why = `No model writes anything in stage ${key} of this run`;
  throw new DialecticError('usage_invalid', `${why}; there are ${running.join(', ')}.`);
}

/** The stage and the steps that take a piece up which is given now; refuses where none would. */
export async function findReading(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
  documentKey: string | null,
): Promise<FeedbackReading> {
  const { process, iteration, status } = session;
  if (status === 'cancelled') {
    throw new DialecticError('conflict', 'The session is cancelled; nothing would read feedback.');
  }
  if (!readsFeedback(process)) {
    throw new DialecticError(
      'conflict',
      `No step of the process ${process.key} reads feedback, so nothing would come of it. Give a step an input of type feedback and start a new run.`,
    );
  }
  const next = await nextStage(tx, session, stageKey);
  const reading = next ? { stage: next, iteration } : { stage: stageKey, iteration: iteration + 1 };
  const subject = { stage: stageKey, documentKey, iteration };
  const stage = stageOf(process, reading.stage);
  const steps = stepsGiven(stage, subject, reading.iteration).map((step) => step.key);
  return { ...reading, steps };
}

/** The first stage that still opens in this pass and is not before the one that is spoken of. */
async function nextStage(
  tx: Transaction,
  { id, process, iteration, status }: SessionView,
  stageKey: string,
): Promise<string | undefined> {
  if (status === 'completed') return undefined;
  const opened = await tx.query<{ stage_key: string }>(
    'select stage_key from stage_runs where session_id = $1 and iteration = $2',
    [id, iteration],
  );
  const order = promptedStages(process).map((stage) => stage.key);
  const last = Math.max(-1, ...opened.map((run) => order.indexOf(run.stage_key)));
  return order[Math.max(last + 1, order.indexOf(stageKey))];
}

/**
 * Ties to a stage that opens the feedback which it has to take up: all that was given in this pass
 * on this stage or an earlier one, and what was said about this stage in earlier passes.
 */
export async function takeUpFeedback(
  tx: Transaction,
  { id, process, iteration }: Pick<SessionView, 'id' | 'process' | 'iteration'>,
  stageKey: string,
  stageRunId: string,
): Promise<void> {
  const order = promptedStages(process).map((stage) => stage.key);
  if (!order.includes(stageKey)) return;
  const upToHere = order.slice(0, order.indexOf(stageKey) + 1);
  await tx.query(
    `update feedback set stage_run_id = $2
     where session_id = $1 and stage_run_id is null
       and ((iteration = $3 and stage_key = any($4)) or (iteration < $3 and stage_key = $5))`,
    [id, stageRunId, iteration, upToHere, stageKey],
  );
}
