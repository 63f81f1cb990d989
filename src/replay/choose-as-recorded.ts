import type { Transaction } from '../db/transaction.ts';
import { chooseLaneByHand } from '../session/converge.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { findOwedStage } from '../session/reopen-stage.ts';
import type { RecordedRun } from './read-recorded-run.ts';

/** The lane that a person had chosen in the last pass of the recorded run. */
const chosenLane = ({ settings: { session } }: RecordedRun): number | null =>
  session.chosen.by === 'person' ? session.chosen.lane : null;

/**
 * Chooses as a person did before the chosen lane wrote, when the last pass begins: where no other
 * lane wrote the stages of the chosen lane, the replay must not ask another one for them.
 */
export async function chooseEarly(
  tx: Transaction,
  sessionId: string,
  recorded: RecordedRun,
): Promise<void> {
  const lane = chosenLane(recorded);
  const session = await readSession(tx, sessionId);
  if (lane === null || session.iteration !== recorded.settings.session.iteration) return;
  const stages = session.process.stages.filter(({ lanes }) => lanes === 'chosen');
  const writers = stages.flatMap(({ key }) => [...recorded.lastWriters(key)]);
  if (writers.every((one) => one === lane)) await chooseLaneByHand(tx, session, lane);
}

/**
 * Chooses as a person did after the end. Returns whether the chosen lane then wrote its own stage,
 * which a resumed replay does too.
 */
export async function chooseAtEnd(
  tx: Transaction,
  session: SessionView,
  recorded: RecordedRun,
): Promise<boolean> {
  const lane = chosenLane(recorded);
  if (lane === null || session.chosenBy === 'person') return false;
  await chooseLaneByHand(tx, session, lane);
  const owed = await findOwedStage(tx, await readSession(tx, session.id));
  return owed !== undefined && recorded.lastWriters(owed).has(lane);
}
