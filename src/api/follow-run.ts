import { toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import { sleep } from '../platform/clock.ts';
import type { SessionEvent } from '../session/event-types.ts';
import {
  type EventNudge,
  readToEnd,
  type SessionEventPage,
  watchSession,
} from '../session/events.ts';
import { readSession } from '../session/read.ts';
import { requireOpen, type Store } from './store.ts';

/** What a program that follows a run hears: the events of the session, and how they are read. */
export type RunEvent =
  | SessionEvent
  /** The log was read to its end; after the first of these, events are news. */
  | { readonly kind: 'caught-up'; readonly cursor: string | null }
  /** The store cannot be reached, or its disk is full; reading goes on when it is back. */
  | { readonly kind: 'store-away'; readonly message: string }
  | { readonly kind: 'store-back' };

export type WatchOptions = {
  /** The cursor of the last event that was seen; from the start where absent. */
  readonly after?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
};

const AGAIN_MS = 500;
const NEVER = new AbortController().signal;

/**
 * Yields the events of a session until it rests (it ended, is paused, or waits for a person) or the
 * signal aborts. A store that goes away meanwhile is waited for.
 */
export async function* followRun(
  store: Store,
  sessionId: string,
  { after = null, signal = NEVER }: WatchOptions,
  own: Following = {},
): AsyncGenerator<RunEvent, void, void> {
  const ending = AbortSignal.any([signal, store.closing]);
  yield* readEvents(store, { sessionId, after, ...own }, ending);
  if (!signal.aborted) requireOpen(store);
}

/** How the process that works on a run follows it. */
type Following = {
  readonly nudge?: EventNudge;
  /** Whether it reads the end of the log by itself, when its jobs are over. */
  readonly readsEnd?: boolean;
};

type ReadEventsParams = Following & { readonly sessionId: string; readonly after: string | null };

async function* readEvents(
  store: Store,
  { sessionId, after, nudge, readsEnd = false }: ReadEventsParams,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, void, void> {
  const { database, tenantId } = store;
  let cursor = after;
  let isAway = false;
  while (!signal.aborted) {
    let isChecked = false;
    try {
      for await (const page of watchSession(
        database,
        { tenantId, sessionId, after: cursor },
        signal,
        nudge,
      )) {
        if (isAway) yield { kind: 'store-back' };
        isAway = false;
        cursor = page.cursor;
        yield* page.events;
        if (!page.isLast) continue;
        // Asked first: whoever hears that the log is read is then done at once if the session rests.
        const mayEnd = !isChecked || mayRest(page);
        const [asked] = await Promise.allSettled([mayEnd ? isRunning(store, sessionId) : true]);
        if (asked.status === 'fulfilled' && !asked.value && !readsEnd) {
          // It may have gone on between the page and the question.
          const place = { tenantId, sessionId, after: cursor };
          for await (const rest of readToEnd(database, place, signal)) {
            cursor = rest.cursor;
            yield* rest.events;
          }
        }
        yield { kind: 'caught-up', cursor };
        if (asked.status === 'rejected') throw asked.reason;
        if (!asked.value) return;
        isChecked = true;
      }
      return;
    } catch (thrown) {
      const error = toDialecticError(thrown);
      if (!isPassing(error)) throw error;
      if (!isAway) yield { kind: 'store-away', message: error.message };
      isAway = true;
    }
    await database.driver.untilWritable(signal);
    await sleep(AGAIN_MS, signal);
  }
}

/** Only these change whether a session runs; its row is asked, since the log may lag behind it. */
const mayRest = ({ events }: SessionEventPage): boolean =>
  events.some(({ kind }) => kind.startsWith('session-'));

async function isRunning({ database, tenantId }: Store, sessionId: string): Promise<boolean> {
  const { status, gates } = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
  return status === 'running' && gates.length === 0;
}
