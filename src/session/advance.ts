import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { firstStage } from '../recipe/edges.ts';
import { quoteWord } from '../text/quote-word.ts';
import { converge } from './converge.ts';
import { openStage, type PlanStart, prepareStage } from './open-stage.ts';
import { readSession, requireSessionId, type SessionView } from './read.ts';
import { findOwedStage, reopenStage } from './reopen-stage.ts';
import type { AtOnce } from './stages.ts';
import { describeStanding } from './standing.ts';

/**
 * After a stage: the next one of those that this pass has not `opened`, a person's review, or the end
 * of the session. Returns what does it, to be sent with the commit; `plan` tells how the lanes of the
 * next stage begin.
 */
export async function closeStage(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
  opened: readonly string[],
  plan: PlanStart,
): Promise<AtOnce> {
  const next = nextUnopened(session, stageKey, opened);
  const voted = session.process.convergence?.ballots.stage === stageKey;
  // A stage of the chosen lane may follow, so the votes count as soon as they are there.
  if (voted || next === undefined) await converge(tx, session);
  if (next === undefined) return completeOrReopen(tx, session);
  if (session.untilStage === stageKey) return () => rest(tx, session, 'until');
  const gate = session.process.transitions.find(({ from }) => from === stageKey)?.gate ?? false;
  if (session.reviewStages || gate) return () => rest(tx, session, 'review');
  return prepareStage(tx, session, next, plan);
}

/** The stage after the named one; undefined after the last. */
export function nextStage(session: SessionView, stageKey: string): string | undefined {
  const stages = session.process.stages.map((stage) => stage.key);
  return stages[stages.indexOf(stageKey) + 1];
}

/** As nextStage, past stages that this pass has been through: after a stage that was reopened. */
function nextUnopened(
  session: SessionView,
  stageKey: string,
  opened: readonly string[],
): string | undefined {
  let next = nextStage(session, stageKey);
  while (next !== undefined && opened.includes(next)) next = nextStage(session, next);
  return next;
}

async function rest(
  tx: Transaction,
  session: SessionView,
  awaiting: 'review' | 'until',
): Promise<void> {
  await tx.query(`update sessions set status = 'awaiting_review', awaiting = $2 where id = $1`, [
    session.id,
    awaiting,
  ]);
}

/** A person may have chosen another lane while the result was written: then it writes its own. */
async function completeOrReopen(tx: Transaction, { id }: SessionView): Promise<AtOnce> {
  const session = await readSession(tx, id);
  const owed = await findOwedStage(tx, session);
  if (owed === undefined) {
    return () => tx.query(`update sessions set status = 'completed' where id = $1`, [id]);
  }
  await reopenStage(tx, session, owed);
  return () => Promise.resolve();
}

/** A person has looked at the stage: the next one begins. */
export async function approveStage(tx: Transaction, sessionId: string): Promise<void> {
  await lockSession(tx, sessionId);
  const session = await readSession(tx, sessionId);
  if (session.status !== 'awaiting_review') {
    throw new DialecticError('conflict', `The session is ${session.status}; nothing to approve.`);
  }
  if (session.awaiting === 'until') {
    const message = `The session stopped after ${session.untilStage}, as --until asked.`;
    throw new DialecticError(
      'conflict',
      `${message} Go on with: dialectic resume ${quoteWord(sessionId)}`,
    );
  }
  await openStage(tx, session, await requireNext(tx, session));
}

/** The stage behind the last one: a session rests only where there is one. */
export async function requireNext(tx: Transaction, session: SessionView): Promise<string> {
  const next = nextStage(session, await lastStage(tx, session));
  if (next === undefined) throw new DialecticError('conflict', 'No stage is left to open.');
  return next;
}

/** The stage that was opened last in this pass. */
export async function lastStage(tx: Transaction, session: SessionView): Promise<string> {
  const last = await tx.queryOne<{ stage_key: string }>(
    `select stage_key from stage_runs where session_id = $1
       and iteration = $2 order by created_at desc, id desc limit 1`,
    [session.id, session.iteration],
  );
  return last.stage_key;
}

/** Another pass over the process, to its end or a stage, which reads what this one left. */
export async function iterateSession(
  tx: Transaction,
  sessionId: string,
  until: string | null = null,
): Promise<void> {
  await lockSession(tx, sessionId);
  const session = await readSession(tx, sessionId);
  if (session.status !== 'completed' && session.awaiting !== 'until') refuseToIterate(session);
  await tx.query(
    `update sessions set iteration = iteration + 1, chosen_lane_id = null, chosen_by = null,
       vote = null, until_stage = coalesce($2, until_stage)
     where id = $1`,
    [sessionId, until],
  );
  const pass = { ...session, iteration: session.iteration + 1 };
  await openStage(tx, pass, firstStage(session.process).key);
}

function refuseToIterate(session: SessionView): never {
  const { id, status, gates, awaiting } = session;
  if (status === 'cancelled') throw cancelledSession();
  const isRunning = status === 'running' && gates.length === 0;
  const goOn = awaiting === 'review' ? 'approve' : 'resume';
  const next = isRunning ? `Follow it with: dialectic watch` : `Go on with: dialectic ${goOn}`;
  const standing = `The pass is not over, the session is ${describeStanding(session)}.`;
  throw new DialecticError('conflict', `${standing} ${next} ${id}`);
}

/** The refusal of whatever would go on with a session that was cancelled. */
export const cancelledSession = (): DialecticError =>
  new DialecticError('conflict', 'A cancelled session cannot go on.', {
    action: 'Start a new run; what was saved is kept and can be exported.',
  });

/** Serialises decisions about a session: approve, iterate, pause, cancel, resume. */
export async function lockSession(tx: Transaction, sessionId: string): Promise<void> {
  requireSessionId(sessionId);
  // Workers that insert jobs hold key share locks on the row, which `for update` would wait for.
  await tx.query('select 1 from sessions where id = $1 for no key update', [sessionId]);
}
