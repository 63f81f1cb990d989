import { DialecticError } from '../errors/errors.ts';
import type { Database } from './database.ts';
import type { Transaction } from './transaction.ts';

export const EVENTS_CHANNEL = 'dialectic_events';

export type NewEvent = {
  readonly topic: string;
  /** Noun and verb: job-completed, document-saved. */
  readonly kind: string;
  readonly payload?: Readonly<Record<string, unknown>>;
};

export type StoredEvent = {
  /** Where to go on after this event; events that were stored together have their own. */
  readonly cursor: string;
  readonly topic: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
};

/** Appends events in the transaction of the change that they tell of. */
export async function appendEvents(tx: Transaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    `insert into events (tenant_id, topic, kind, payload)
     select $1, * from unnest($2::text[], $3::text[], $4::jsonb[])`,
    [
      tx.tenantId,
      events.map((event) => event.topic),
      events.map((event) => event.kind),
      events.map((event) => JSON.stringify(event.payload ?? {})),
    ],
    'append-events',
  );
}

type ReadEventsParams = {
  readonly tenantId: string;
  /** Only events about this; all of the tenant's where it is absent. */
  readonly topic?: string;
  /** The cursor of the last event that was seen; null = from the start. */
  readonly after: string | null;
  readonly limit?: number;
};

/**
 * The events after a cursor, in an order that never changes: what is returned is older than every
 * running transaction of the store, so no event can later appear before it. A transaction that stays
 * open therefore delays readers; it never makes them miss anything.
 */
export async function readEvents(
  database: Database,
  { tenantId, topic, after, limit = 500 }: ReadEventsParams,
): Promise<StoredEvent[]> {
  const { epoch, tx: afterTx, id: afterId, seen } = parseCursor(after);
  const rows = await database.asTenant(tenantId, async (tx) => {
    const found = await tx.query<EventRow>(
      `select s.epoch, e.* from store_epoch s left join lateral (
         select tx::text as tx_text, tx, id, topic, kind, payload, created_at from events
         where (tx, id) ${seen === 0 ? '>' : '>='} ($1::xid8, $2::bigint)
           and tx < (select event_horizon())
           ${topic === undefined ? '' : 'and topic = $4'}
         order by tx, id limit $3) e on true
       order by e.tx, e.id`,
      [afterTx, afterId, limit, ...(topic === undefined ? [] : [topic])],
    );
    if (found.some(({ id }) => id !== null)) await tx.query(FLUSH);
    return found;
  });
  if (epoch !== undefined && epoch !== rows[0]?.epoch) {
    throw new DialecticError('cursor_invalid', 'This cursor is of before a backup was restored.');
  }
  const events = rows.flatMap((row) => {
    if (row.id === null) return [];
    // With another topic than the cursor's, its row is not among these.
    const isCursors = row.tx_text === afterTx && String(row.id) === afterId;
    return unfold(row).slice(isCursors ? seen : 0);
  });
  return events.slice(0, limit);
}

/** Whether events of the topic are committed that `readEvents` does not return yet. */
export async function hasDelayedEvents(
  database: Database,
  { tenantId, topic, after }: { tenantId: string; topic: string; after: string | null },
): Promise<boolean> {
  const { tx: afterTx, id } = parseCursor(after);
  const [found] = await database.asTenant(tenantId, (tx) =>
    tx.query<{ delayed: boolean }>(
      `select exists (select from events where topic = $3
         and (tx, id) > ($1::xid8, $2::bigint)) as delayed`,
      [afterTx, id, topic],
    ),
  );
  return found?.delayed === true;
}

/**
 * Written as the last thing of a transaction, it makes the commit wait until all before it is on
 * disk. Not every commit waits for that; an event that a crash takes back after it was read would
 * leave a reader with a cursor that later events come before.
 */
const FLUSH = `select pg_logical_emit_message(true, 'dialectic', '')`;

/** The epoch of an image, from which many stores are made. */
const IMAGE_EPOCH = 'image';

/** Marks a store as the image of others. */
export async function markAsImage(database: Database): Promise<void> {
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query('update store_epoch set epoch = $1', [IMAGE_EPOCH]),
  );
}

/** Gives a store that was made from an image an epoch of its own; every other keeps its own. */
export async function giveEpoch(database: Database): Promise<void> {
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query('update store_epoch set epoch = default where epoch = $1', [IMAGE_EPOCH]),
  );
}

/** Makes every cursor that was given out invalid, since what they name may come a second time. */
export async function renewEpoch(database: Database): Promise<void> {
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query('update store_epoch set epoch = default'),
  );
}

/** The one row of the epoch stands alone, with nulls beside it, where no event follows. */
type EventRow = {
  epoch: string;
  tx_text: string;
  id: number | null;
  topic: string;
  kind: string;
  payload: Record<string, unknown>;
  created_at: Date;
};

/**
 * The single events of a row. Events of one statement that share most of their fields are stored as
 * one row, whose payload lists in `each` what differs. A cursor inside of it counts the events of the
 * row up to its own; that of the last one is the row's.
 */
function unfold({ epoch, tx_text: tx, id, topic, kind, payload, created_at }: EventRow) {
  const cursor = `${epoch}-${tx}-${id}`;
  const { each, ...shared } = payload;
  if (!Array.isArray(each)) return [{ cursor, topic, kind, payload, createdAt: created_at }];
  return each.map((own: Record<string, unknown>, index): StoredEvent => {
    const place = index === each.length - 1 ? cursor : `${cursor}-${index + 1}`;
    return { cursor: place, topic, kind, payload: { ...shared, ...own }, createdAt: created_at };
  });
}

type Cursor = {
  readonly epoch?: string;
  readonly tx: string;
  readonly id: string;
  /** How many events of the row were read; 0 = all of it. */
  readonly seen: number;
};

function parseCursor(cursor: string | null): Cursor {
  if (cursor === null) return { tx: '0', id: '0', seen: 0 };
  const match = /^([0-9a-f]{8})-(\d{1,19})-(\d{1,18})(?:-(\d{1,9}))?$/.exec(cursor);
  if (!match) throw new DialecticError('cursor_invalid', `Not an event cursor: ${cursor}`);
  const [, epoch = '', tx = '', id = '', seen = '0'] = match;
  return { epoch, tx, id, seen: Number(seen) };
}
