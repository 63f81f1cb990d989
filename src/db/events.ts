import { DialecticError } from '../platform/errors.ts';
import type { Database, Transaction } from './database.ts';

export const EVENTS_CHANNEL = 'dialectic_events';

export type NewEvent = {
  readonly tenantId: string;
  readonly topic: string;
  /** Noun and verb: job-completed, document-saved. */
  readonly kind: string;
  readonly payload?: Readonly<Record<string, unknown>>;
};

export type StoredEvent = {
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
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[])`,
    [
      events.map((event) => event.tenantId),
      events.map((event) => event.topic),
      events.map((event) => event.kind),
      events.map((event) => JSON.stringify(event.payload ?? {})),
    ],
    'append-events',
  );
}

export type ReadEventsParams = {
  readonly tenantId: string;
  /** Only events about this; all of the tenant's where it is absent. */
  readonly topic?: string;
  /** The cursor of the last event that was seen; null = from the start. */
  readonly after: string | null;
  readonly limit?: number;
};

/**
 * The events after a cursor, in an order that never changes: what is returned is older than every
 * running transaction, so no event can later appear before it. A transaction that stays open
 * therefore delays readers; it never makes them miss anything.
 */
export async function readEvents(
  database: Database,
  { tenantId, topic, after, limit = 500 }: ReadEventsParams,
): Promise<StoredEvent[]> {
  const { tx: afterTx, id: afterId } = parseCursor(after);
  return database.asTenant(tenantId, async (tx) => {
    const rows = await tx.query<EventRow>(
      `select tx::text as tx_text, id, topic, kind, payload, created_at from events
       where tenant_id = $1 and (tx, id) > ($2::xid8, $3::bigint)
         and tx < pg_snapshot_xmin(pg_current_snapshot())
         ${topic === undefined ? '' : 'and topic = $5'}
       order by tx, id limit $4`,
      [tenantId, afterTx, afterId, limit, ...(topic === undefined ? [] : [topic])],
    );
    return rows.map(toEvent);
  });
}

type EventRow = {
  tx_text: string;
  id: number;
  topic: string;
  kind: string;
  payload: Record<string, unknown>;
  created_at: Date;
};

function toEvent(row: EventRow): StoredEvent {
  const { topic, kind, payload } = row;
  return { cursor: `${row.tx_text}-${row.id}`, topic, kind, payload, createdAt: row.created_at };
}

function parseCursor(cursor: string | null): { tx: string; id: string } {
  if (cursor === null) return { tx: '0', id: '0' };
  const match = /^(\d{1,19})-(\d{1,18})$/.exec(cursor);
  if (!match) throw new DialecticError('cursor_invalid', `Not an event cursor: ${cursor}`);
  return { tx: match[1]!, id: match[2]! };
}
