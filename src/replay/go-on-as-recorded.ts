import type { Database, Transaction } from '../db/database.ts';
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
  database: Database,
  tenantId: string,
  sessionId: string,
  recorded: RecordedRun,
): Promise<boolean> {
  const { session: last, feedback } = recorded.settings;
  const { isReview, isPassDone, isOwed, iteration, process } = await database.asTenant(
    tenantId,
    async (tx) => {
      const session = await readSession(tx, sessionId);
      const isReview = session.awaiting === 'review';
      const isPassDone = session.status === 'completed' || session.awaiting === 'until';
      const next = isReview ? nextStage(session, await lastStage(tx, session)) : null;
      const said = feedback.filter((piece) => piece.iteration === session.iteration);
      for (const piece of said.filter(({ readBy }) => isDue(readBy, session, next))) {
        await repeat(tx, session, piece);
      }
      const isEnd = session.status === 'completed' && session.iteration === last.iteration;
      const isOwed = isEnd && (await chooseAtEnd(tx, session, recorded));
      return { ...session, isReview, isPassDone, isOwed };
    },
  );
  if (isReview) await approveStage(database, tenantId, sessionId);
  else if (isPassDone && iteration < last.iteration) {
    const isLast = iteration + 1 === last.iteration;
    const until = isLast ? findStop(recorded, process) : null;
    await iterateSession(database, tenantId, sessionId, until);
    await database.asTenant(tenantId, (tx) => chooseEarly(tx, sessionId, recorded));
  } else if (isOwed) await resumeRun(database, tenantId, sessionId);
  else return false;
  return true;
}

/** At a gate what the next stage reads is said; at the end of a pass what a later pass reads. */
function isDue(
  readBy: RecordedFeedback['readBy'],
  { iteration, status, awaiting }: SessionView,
  next: string | null | undefined,
): boolean {
  if (readBy?.iteration === iteration) return readBy.stage === next;
  return status === 'completed' || awaiting === 'until';
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
