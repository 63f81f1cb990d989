import type { Transaction } from '../db/transaction.ts';
import { requireFolder } from '../documents/owned-folder.ts';
import { toDialecticError } from '../errors/errors.ts';
import { endWaits } from '../jobs/waits.ts';
import { requireStage } from '../recipe/find-stage.ts';
import { approveStage, iterateSession } from '../session/advance.ts';
import { chooseLaneByHand } from '../session/converge.ts';
import { requireParticipant } from '../session/find-participant.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { findOwedStage } from '../session/reopen-stage.ts';
import { resumeRun } from '../session/resume.ts';
import type { RunResult } from '../session/summary.ts';
import { takeFolder, updateFolder } from '../session/write-folder.ts';
import { approveSpending } from '../wallet/ledger.ts';
import { type RunBudget, readRunBudget, setSessionBudgets } from '../wallet/session-budgets.ts';
import type { Store } from './store.ts';

/** What may be told to a run that goes on. */
export type GoOnOptions = {
  /** Replaces the caps of the run; what it has spent counts. */
  readonly budget?: RunBudget | undefined;
  /** The folder to write from now on: refused before anything changes. */
  readonly out?: string | undefined;
};

export type ResumeOptions = GoOnOptions & {
  /** The stage to stop after; a run that had reached its stop goes to the end without it. */
  readonly until?: string | undefined;
  /** Whether what waits for a date, after a fault or by a wrong clock, runs at once. */
  readonly now?: boolean | undefined;
};

/** Sets the given caps of a session and leaves its other caps. */
export async function setRunBudget(store: Store, sessionId: string, budget: RunBudget) {
  await write(store, async (tx) => {
    const { lanes } = await readSession(tx, sessionId);
    const models = lanes.map(({ model }) => model);
    const budgets = await readRunBudget(budget, models, store.models);
    await setSessionBudgets(tx, sessionId, budgets);
  });
}

/**
 * Checks folder and budget, sets the caps, lets the session go on and moves its folder. A session that
 * cannot go on this way is refused by `begin`, and keeps its caps.
 */
async function goOn(
  store: Store,
  sessionId: string,
  { budget = {}, out }: GoOnOptions,
  canGoOn: (tx: Transaction, session: SessionView) => boolean | Promise<boolean>,
  begin: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await requireFolderOf(store, sessionId, out);
  const isDue = await write(store, async (tx) => canGoOn(tx, await readSession(tx, sessionId)));
  if (isDue) await setRunBudget(store, sessionId, budget);
  // In a transaction of its own: budgets lock accounts, which come after jobs in the lock order.
  await writePatiently(store, begin);
  await moveFolder(store, sessionId, out);
}

const write = <T>({ database, tenantId }: Store, work: (tx: Transaction) => Promise<T>) =>
  database.asTenant(tenantId, work);

const TRIES = 5;

/**
 * `begin` locks stage runs in their order, while a commit that ends jobs of two stages may lock them in
 * another. Where PostgreSQL ends `begin` as the deadlock victim, it is made again.
 */
async function writePatiently<T>(store: Store, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(store, work);
    } catch (thrown) {
      const { code, retryable } = toDialecticError(thrown);
      if (code !== 'conflict' || !retryable || attempt === TRIES) throw thrown;
    }
  }
}

async function requireFolderOf(store: Store, sessionId: string, out?: string) {
  if (out === undefined) return;
  const { projectId } = await write(store, (tx) => readSession(tx, sessionId));
  await requireFolder(out, projectId);
}

async function moveFolder({ database, tenantId }: Store, sessionId: string, out?: string) {
  if (out !== undefined) await takeFolder(database, tenantId, sessionId, out);
}

/** Brings the folder of a session up to date; one that is named becomes the session's. */
export async function update(store: Store, sessionId: string, out?: string): Promise<RunResult> {
  await requireFolderOf(store, sessionId, out);
  await moveFolder(store, sessionId, out);
  return updateFolder(store.database, store.tenantId, sessionId);
}

/** A finished session goes on only where a chosen lane owes a stage. */
const isResumable = async (tx: Transaction, session: SessionView): Promise<boolean> =>
  session.status === 'completed'
    ? (await findOwedStage(tx, session)) !== undefined
    : session.status !== 'cancelled' && session.awaiting !== 'review';

/** Goes on with a session that was stopped, failed or paused; approves spending that waits for it. */
export const resume = (store: Store, sessionId: string, options: ResumeOptions) =>
  goOn(store, sessionId, options, isResumable, async (tx) => {
    await approveSpending(tx, sessionId);
    const { process } = await readSession(tx, sessionId);
    const until = options.until === undefined ? null : requireStage(process, options.until).key;
    await resumeRun(tx, sessionId, { until });
    if (options.now) await endWaits(tx, sessionId);
  });

const isAwaitingReview = (_: Transaction, { status }: SessionView): boolean =>
  status === 'awaiting_review';

/** Lets the next stage of a session begin. */
export const approve = (store: Store, sessionId: string, options: GoOnOptions) =>
  goOn(store, sessionId, options, isAwaitingReview, (tx) => approveStage(tx, sessionId));

const isPassDone = (_: Transaction, { status, awaiting }: SessionView): boolean =>
  status === 'completed' || awaiting === 'until';

/** Begins another pass over a finished session. */
export const iterate = (store: Store, sessionId: string, options: GoOnOptions) =>
  goOn(store, sessionId, options, isPassDone, (tx) => iterateSession(tx, sessionId));

/** The lane that the results follow, and the stage that it has not written, if any. */
export type Choice = {
  readonly session: string;
  readonly lane: number;
  readonly owedStage: string | null;
};

/** Makes the results follow a participant, by its number or model. */
export async function choose(
  store: Store,
  session: string,
  participant: number | string,
): Promise<Choice> {
  return write(store, async (tx) => {
    const view = await readSession(tx, session);
    const { ordinal: lane } = requireParticipant(view.lanes, String(participant));
    await chooseLaneByHand(tx, view, lane);
    const chosen = await readSession(tx, session);
    const owed = chosen.status === 'completed' ? await findOwedStage(tx, chosen) : undefined;
    return { session, lane, owedStage: owed ?? null };
  });
}
