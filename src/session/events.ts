import type { Database } from '../db/database.ts';
import { EVENTS_CHANNEL, readEvents } from '../db/events.ts';
import { sleep } from '../platform/clock.ts';
import { parseSessionEvent, type SessionEvent } from './event-types.ts';

export type SessionEventsParams = {
  readonly tenantId: string;
  readonly sessionId: string;
  /** The cursor of the last event that was seen; null = from the start. */
  readonly after: string | null;
};

/** A page of a session's events; `cursor` is where to go on, also past kinds not known here. */
export type SessionEventPage = {
  readonly events: readonly SessionEvent[];
  readonly cursor: string | null;
};

/**
 * The events of a session after a cursor, in an order that never changes and without gaps that fill
 * later (see readEvents). An empty page says that nothing more is settled yet.
 */
export async function readSessionEvents(
  database: Database,
  { tenantId, sessionId, after, limit }: SessionEventsParams & { readonly limit?: number },
): Promise<SessionEventPage> {
  const stored = await readEvents(database, {
    tenantId,
    topic: `session/${sessionId}`,
    after,
    ...(limit !== undefined && { limit }),
  });
  const events = stored.map(parseSessionEvent).filter((event) => event !== undefined);
  return { events, cursor: stored.at(-1)?.cursor ?? after };
}

/** How often it looks without a hint: hints may be lost, and other transactions delay readers. */
const POLL_MS = 500;
/** Workers hint up to fifty times a second, and every page that is read waits for the disk. */
const LEAST_MS = 100;

/**
 * Yields the pages of a session's events as they come, until the signal aborts. The first pages are
 * what is there already; one that is empty follows them, and says that the reader has caught up.
 */
export async function* watchSession(
  database: Database,
  { after, ...place }: SessionEventsParams,
  signal: AbortSignal,
): AsyncGenerator<readonly SessionEvent[], void, void> {
  let hint = new AbortController();
  const stopListening = await database.driver.listen(EVENTS_CHANNEL, () => hint.abort());
  let cursor = after;
  let caughtUp = false;
  try {
    while (!signal.aborted) {
      hint = new AbortController();
      const page = await readSessionEvents(database, { ...place, after: cursor });
      const isNew = page.cursor !== cursor;
      cursor = page.cursor;
      if (isNew || !caughtUp) yield page.events;
      caughtUp ||= !isNew;
      if (!caughtUp) continue;
      await sleep(LEAST_MS, signal);
      if (!isNew) await sleep(POLL_MS - LEAST_MS, AbortSignal.any([signal, hint.signal]));
    }
  } finally {
    await stopListening();
  }
}
