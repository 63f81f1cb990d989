import { settleNotices } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { removeGate, retrySession } from '../jobs/sessions.ts';
import { quoteWord } from '../text/quote-word.ts';
import { cancelledSession, lastStage, lockSession, requireNext } from './advance.ts';
import { openStage } from './open-stage.ts';
import { readSession, type SessionView } from './read.ts';
import { findOwedStage, reopenStage } from './reopen-stage.ts';

/**
 * Goes on with a run that rests: opens its gates, tries again what failed, opens the next stage of a
 * run that stopped where it was asked to, and lets the lane that a person chose after the end write
 * the stages of the chosen lane. `until` names the stage to stop after; without it a
 * run that had reached its stop goes to the end.
 */
export async function resumeRun(
  tx: Transaction,
  sessionId: string,
  { until = null }: { readonly until?: string | null } = {},
): Promise<void> {
  await lockSession(tx, sessionId);
  const session = await readSession(tx, sessionId);
  const owed = session.status === 'completed' ? await findOwedStage(tx, session) : undefined;
  if (owed === undefined) refuseToResume(session);
  const last = owed ?? (await lastStage(tx, session));
  const stopped = session.awaiting === 'until';
  const next = stopped ? await requireNext(tx, session) : last;
  requireAhead(session, until, next);
  const stop = until ?? (stopped ? null : session.untilStage);
  await tx.query('update sessions set until_stage = $2 where id = $1', [sessionId, stop]);
  await removeGate(tx, sessionId);
  await settleNotices(tx, sessionId);
  if (owed !== undefined) await reopenStage(tx, session, owed);
  else if (stopped) await openStage(tx, session, next);
  else await retrySession(tx, sessionId);
}

function refuseToResume({ id, status, awaiting }: SessionView): void {
  if (status === 'cancelled') throw cancelledSession();
  const reasons: Record<string, string> = {
    completed: `The session is completed. Make another pass with: dialectic iterate ${quoteWord(id)}`,
    draft: 'The session has not started.',
  };
  const reason =
    awaiting === 'review'
      ? `The session waits for a person. Go on with: dialectic approve ${quoteWord(id)}`
      : reasons[status];
  if (reason) throw new DialecticError('conflict', reason);
}

/** A stop must lie ahead: at the stage that runs next, or behind it. */
function requireAhead({ process }: SessionView, until: string | null, next: string): void {
  if (until === null) return;
  const keys = process.stages.map((stage) => stage.key);
  const ahead = keys.slice(keys.indexOf(next));
  if (ahead.includes(until)) return;
  const what = keys.includes(until) ? `Stage ${until} is over` : `There is no stage ${until}`;
  throw new DialecticError('usage_invalid', `${what}; --until takes ${ahead.join(', ')}.`);
}
