import { toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import { readWaits } from '../jobs/waits.ts';
import { now, sleep } from '../platform/clock.ts';
import { watchSession } from '../session/events.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { NO_EVENTS, reduceSession, type SessionState } from '../session/session-state.ts';
import { describeStandstill, describeWaits } from './describe-waits.ts';
import { tell } from './output.ts';
import { Progress } from './progress.ts';
import type { OpenStore } from './store.ts';

const AGAIN_MS = 500;

type Watched = {
  readonly store: OpenStore;
  readonly sessionId: string;
  /** Called when another stage has ended. */
  readonly onStageEnd: () => Promise<void>;
};

/** How far the event log was followed; a store that was away is read on from here. */
type Seen = {
  progress?: Progress;
  state: SessionState;
  cursor: string | null;
  stageEnds: number;
  isNews: boolean;
  /** Whether the store is known to be away. */
  isAway: boolean;
};

/**
 * Follows the session's event log: shows where the run stands, and returns when the session rests.
 * While the store is away or full it waits: the worker keeps what it has received until then.
 */
export async function watchRun(watched: Watched, stop: AbortSignal): Promise<void> {
  const { store, sessionId } = watched;
  const seen = { state: NO_EVENTS, cursor: null, stageEnds: 0, isNews: false, isAway: false };
  while (!stop.aborted) {
    try {
      return await follow(watched, seen, stop);
    } catch (thrown) {
      const error = toDialecticError(thrown);
      if (!isPassing(error)) throw error;
      if (!seen.isAway) tell(describeAbsence(sessionId, error.message));
      seen.isAway = true;
    }
    await store.database.driver.untilWritable(stop);
    await sleep(AGAIN_MS, stop);
  }
}

async function follow(watched: Watched, seen: Seen, stop: AbortSignal): Promise<void> {
  const { store, sessionId, onStageEnd } = watched;
  const { database, tenantId } = store;
  seen.progress ??= new Progress(await viewOf(store, sessionId));
  const log = watchSession(database, { tenantId, sessionId, after: seen.cursor }, stop);
  for await (const { events, cursor, isLast } of log) {
    if (seen.isAway) tell(`The store is back; session ${sessionId} goes on.`);
    seen.isAway = false;
    seen.state = reduceSession(seen.state, events);
    seen.cursor = cursor;
    // Before the last page of the past, the state is one that the session has left behind.
    const isFirstNews = isLast && !seen.isNews;
    seen.isNews ||= isLast;
    if (!seen.isNews) continue;
    seen.progress.draw(seen.state);
    const waits = isFirstNews ? await standstillOf(watched) : describeWaits(events, now());
    for (const line of waits) seen.progress.tell(line);
    if (seen.state.stageEnds > seen.stageEnds) await onStageEnd();
    seen.stageEnds = seen.state.stageEnds;
    // The log may lag behind (another transaction hides the event of a resume, say): ask the row.
    if (!isRunning(seen.state) && !isRunning(await viewOf(store, sessionId))) return;
  }
}

/** What the rows say: jobs of a clock that was ahead have no event that tells of their date. */
async function standstillOf({ store, sessionId }: Watched): Promise<string[]> {
  const { database, tenantId } = store;
  const waits = await database.asTenant(tenantId, (tx) => readWaits(tx, sessionId));
  return describeStandstill(waits, sessionId, now());
}

const describeAbsence = (sessionId: string, reason: string): string =>
  `Session ${sessionId} waits for its store: ${reason} It goes on by itself, and keeps the answers` +
  ` under way meanwhile. Ctrl-C stops it; then go on with: dialectic resume ${sessionId}`;

const isRunning = ({ status, gates }: Pick<SessionView | SessionState, 'status' | 'gates'>) =>
  status === 'running' && [...gates].length === 0;

/** The session as its rows have it. */
export const viewOf = (
  { database, tenantId }: OpenStore,
  sessionId: string,
): Promise<SessionView> => database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
