import type { Transaction } from '../db/transaction.ts';
import { type NewRun, startRun } from '../session/start.ts';
import { chooseEarly } from './choose-as-recorded.ts';
import type { RecordedRun } from './read-recorded-run.ts';

/** Starts a planned replay, with the lane that people had chosen before the recorded run began. */
export async function startAsRecorded(
  tx: Transaction,
  recorded: RecordedRun,
  planned: NewRun,
): Promise<string> {
  const { sessionId } = await startRun(tx, planned);
  await chooseEarly(tx, sessionId, recorded);
  return sessionId;
}
