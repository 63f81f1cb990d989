import type { Database, Transaction } from '../db/database.ts';
import { DialecticError } from '../platform/errors.ts';
import { runningStages } from '../recipe/configure-process.ts';
import { converge } from './converge.ts';
import { readSession, type SessionView } from './read.ts';
import { openStage } from './stages.ts';

/** After a stage: the next one, a person's review, or the end of the session. */
export async function closeStage(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
): Promise<void> {
  const next = nextStage(session, stageKey);
  const voted = session.process.convergence?.ballots.stage === stageKey;
  // A stage of the chosen lane may follow, so the votes count as soon as they are there.
  if (voted || next === undefined) await converge(tx, session);
  if (next === undefined) return setStatus(tx, session, 'completed');
  const gate = session.process.transitions.find(({ from }) => from === stageKey)?.gate ?? false;
  if (session.reviewStages || gate) {
    return setStatus(tx, session, 'awaiting_review');
  }
  await openStage(tx, { tenantId: session.tenantId, sessionId: session.id, stageKey: next });
}

function nextStage(session: SessionView, stageKey: string): string | undefined {
  if (session.untilStage === stageKey) return undefined;
  const stages = runningStages(session.process).map((stage) => stage.key);
  return stages[stages.indexOf(stageKey) + 1];
}

async function setStatus(
  tx: Transaction,
  { tenantId, id }: SessionView,
  status: string,
): Promise<void> {
  await tx.query('update sessions set status = $3 where tenant_id = $1 and id = $2', [
    tenantId,
    id,
    status,
  ]);
}

/** A person has looked at the stage: the next one begins. */
export async function approveStage(database: Database, tenantId: string, sessionId: string) {
  await database.asTenant(tenantId, async (tx) => {
    await lockSession(tx, tenantId, sessionId);
    const session = await readSession(tx, tenantId, sessionId);
    if (session.status !== 'awaiting_review') {
      throw new DialecticError('conflict', `The session is ${session.status}; nothing to approve.`);
    }
    const [last] = await tx.query<{ stage_key: string }>(
      `select stage_key from stage_runs where tenant_id = $1 and session_id = $2
         and iteration = $3 order by created_at desc, id desc limit 1`,
      [tenantId, sessionId, session.iteration],
    );
    const stageKey = nextStage(session, last!.stage_key)!;
    await openStage(tx, { tenantId, sessionId, stageKey });
  });
}

/** Another pass over the whole process, which reads what this one left. */
export async function iterateSession(database: Database, tenantId: string, sessionId: string) {
  await database.asTenant(tenantId, async (tx) => {
    await lockSession(tx, tenantId, sessionId);
    const session = await readSession(tx, tenantId, sessionId);
    if (session.status !== 'completed') {
      throw new DialecticError('conflict', `The session is ${session.status}, not completed.`);
    }
    await tx.query(
      `update sessions set iteration = iteration + 1, chosen_lane_id = null, chosen_by = null
       where tenant_id = $1 and id = $2`,
      [tenantId, sessionId],
    );
    const stageKey = runningStages(session.process)[0]!.key;
    await openStage(tx, { tenantId, sessionId, stageKey });
  });
}

/** Serialises decisions about a session: approve, iterate, pause, cancel, resume. */
export async function lockSession(
  tx: Transaction,
  tenantId: string,
  sessionId: string,
): Promise<void> {
  // Workers that insert jobs hold key share locks on the row, which `for update` would wait for.
  await tx.query('select 1 from sessions where tenant_id = $1 and id = $2 for no key update', [
    tenantId,
    sessionId,
  ]);
}
