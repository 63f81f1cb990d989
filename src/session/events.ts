import type { Database } from '../db/database.ts';
import { EVENTS_CHANNEL, hasDelayedEvents, readEvents } from '../db/events.ts';
import { AWAKE, sleep } from '../platform/clock.ts';
import { readPaths } from './document-paths.ts';
import { parseSessionEvent, type SessionEvent } from './event-types.ts';
import { readSession } from './read.ts';

type SessionEventsParams = {
  readonly tenantId: string;
  readonly sessionId: string;
  /** The cursor of the last event that was seen; null = from the start. */
  readonly after: string | null;
};

export type SessionEventPage = {
  readonly events: readonly SessionEvent[];
  /** Where to go on, also past kinds that this version does not know. */
  readonly cursor: string | null;
  /** Whether nothing more was settled when it was read: from here on, events are news. */
  readonly isLast: boolean;
};

const PAGE = 500;
const topicOf = (sessionId: string): string => `session/${sessionId}`;

/**
 * The events of a session after a cursor, in an order that never changes and without gaps that fill
 * later (see readEvents).
 */
export async function readSessionEvents(
  database: Database,
  { tenantId, sessionId, after, limit = PAGE }: SessionEventsParams & { readonly limit?: number },
): Promise<SessionEventPage> {
  const stored = await readEvents(database, {
    tenantId,
    topic: topicOf(sessionId),
    after,
    limit,
  });
  const events = stored.map(parseSessionEvent).filter((event) => event !== undefined);
  return {
    events: await addPaths(database, { tenantId, sessionId }, events),
    cursor: stored.at(-1)?.cursor ?? after,
    isLast: stored.length < limit,
  };
}

/** Tells with each rendered document where the folder has it. */
async function addPaths(
  database: Database,
  { tenantId, sessionId }: Pick<SessionEventsParams, 'tenantId' | 'sessionId'>,
  events: readonly SessionEvent[],
): Promise<readonly SessionEvent[]> {
  const ids = events.flatMap((event) =>
    event.kind === 'document-rendered' ? [event.documentId] : [],
  );
  if (ids.length === 0) return events;
  const paths = await database.asTenant(tenantId, async (tx) =>
    readPaths(tx, await readSession(tx, sessionId), ids),
  );
  return events.map((event) =>
    event.kind === 'document-rendered'
      ? { ...event, path: paths.get(event.documentId) ?? null }
      : event,
  );
}

/** How long a program that ends waits for events that running transactions delay. */
const DELAY_MS = 5_000;

/** Yields the pages of a session's events up to the last that is committed now, or until the signal. */
export async function* readToEnd(
  database: Database,
  { after, ...place }: SessionEventsParams,
  signal?: AbortSignal,
): AsyncGenerator<SessionEventPage, void, void> {
  const topic = topicOf(place.sessionId);
  const timeout = AbortSignal.timeout(DELAY_MS);
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let cursor = after;
  while (true) {
    const page = await readSessionEvents(database, { ...place, after: cursor });
    cursor = page.cursor;
    yield page;
    if (!page.isLast) continue;
    const isDelayed = await hasDelayedEvents(database, { ...place, topic, after: cursor });
    if (!isDelayed || deadline.aborted) return;
    await sleep(LEAST_MS, deadline);
  }
}

/** How often it looks without a hint: hints may be lost, and other transactions delay readers. */
const POLL_MS = 500;
/** Workers hint up to fifty times a second, and every page that is read waits for the disk. */
const LEAST_MS = 100;

/** Makes a reader of events look at once instead of at the end of its pause. */
export class EventNudge {
  #given = new AbortController();

  /** Aborted from the moment of a nudge until the next look. */
  get signal(): AbortSignal {
    return this.#given.signal;
  }

  now(): void {
    this.#given.abort(AWAKE);
  }

  renew(): void {
    if (this.#given.signal.aborted) this.#given = new AbortController();
  }
}

/**
 * Yields the pages of a session's events as they come, until the signal aborts: first what is there
 * already, the last page of it marked even if it is empty, then only pages with news.
 */
export async function* watchSession(
  database: Database,
  { after, ...place }: SessionEventsParams,
  signal: AbortSignal,
  nudge = new EventNudge(),
): AsyncGenerator<SessionEventPage, void, void> {
  let hint = new AbortController();
  const stopListening = await database.driver.listen(EVENTS_CHANNEL, () => hint.abort(AWAKE));
  let cursor = after;
  let isFirst = true;
  try {
    while (!signal.aborted) {
      hint = new AbortController();
      nudge.renew();
      const page = await readSessionEvents(database, { ...place, after: cursor });
      const isNews = page.cursor !== cursor;
      cursor = page.cursor;
      if (isNews || isFirst) yield page;
      if (!page.isLast) continue;
      isFirst = false;
      const soon = AbortSignal.any([signal, nudge.signal]);
      await sleep(LEAST_MS, soon);
      if (!isNews) await sleep(POLL_MS - LEAST_MS, AbortSignal.any([soon, hint.signal]));
    }
  } finally {
    await stopListening();
  }
}
