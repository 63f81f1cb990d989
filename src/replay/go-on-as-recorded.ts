import type { Transaction } from '../db/transaction.ts';
import { approveStage, iterateSession, lastStage, nextStage } from '../session/advance.ts';
import { addFeedback } from '../session/feedback.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { resumeRun } from '../session/resume.ts';
import { chooseAtEnd, chooseEarly } from './choose-as-recorded.ts';
import { findStop } from './find-stop.ts';
import type { RecordedRun } from './read-recorded-run.ts';
import type { RecordedFeedback } from './settings.ts';

/**
 * Does what people did where a replay rests: says what they said there, and begins the next stage or
 * pass. Returns false where the recorded run ended too.
 */
export async function goOnAsRecorded(
  tx: Transaction,
  sessionId: string,
  recorded: RecordedRun,
): Promise<boolean> {
  const { session: last, feedback } = recorded.settings;
  const session = await readSession(tx, sessionId);
  const isReview = session.awaiting === 'review';
  const next = isReview ? nextStage(session, await lastStage(tx, session)) : null;
  const said = feedback.filter((piece) => piece.iteration === session.iteration);
  for (const piece of said.filter(({ readBy }) => isDue(readBy, session, next))) {
    await repeat(tx, session, piece);
  }
  if (isReview) await approveStage(tx, sessionId);
  else if (isPassDone(session) && session.iteration < last.iteration) {
    const isLast = session.iteration + 1 === last.iteration;
    await iterateSession(tx, sessionId, isLast ? findStop(recorded, session.process) : null);
    await chooseEarly(tx, sessionId, recorded);
  } else if (session.status === 'completed' && (await chooseAtEnd(tx, session, recorded))) {
    await resumeRun(tx, sessionId);
  } else return false;
  return true;
}

const isPassDone = ({ status, awaiting }: SessionView): boolean =>
  status === 'completed' || awaiting === 'until';

/** At a gate what the next stage reads is said; at the end of a pass what a later pass reads. */
function isDue(
  readBy: RecordedFeedback['readBy'],
  session: SessionView,
  next: string | null | undefined,
): boolean {
  if (readBy?.iteration === session.iteration) return readBy.stage === next;
  return isPassDone(session);
}

async function repeat(
  tx: Transaction,
  session: SessionView,
  { stage, document, question, text }: RecordedFeedback,
): Promise<void> {
  const [row] = await tx.query<{ id: string }>(
    `select id from documents where session_id = $1 and identity = $2 and not superseded`,
    [session.id, document],
  );
  await addFeedback(tx, session.id, { stageKey: stage, document: row?.id ?? null, question, text });
}
