import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Transaction } from './transaction.ts';

export type NewNotice = {
  readonly severity: 'info' | 'warning' | 'error';
  readonly code: string;
  readonly message: string;
  readonly topic: string;
  readonly details?: Readonly<Record<string, unknown>>;
};

export type Notice = NewNotice & { readonly id: string; readonly createdAt: Date };

/** Tells the user something that stays until it is dismissed, in the transaction that caused it. */
export async function addNotice(tx: Transaction, notice: NewNotice): Promise<string> {
  const id = newId();
  await tx.query(
    `insert into notices (tenant_id, id, severity, code, message, topic, details)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      tx.tenantId,
      id,
      notice.severity,
      notice.code,
      notice.message,
      notice.topic,
      JSON.stringify(notice.details ?? {}),
    ],
  );
  return id;
}

/** What the tenant has not dismissed yet, oldest first. */
export function openNotices(tx: Transaction): Promise<Notice[]> {
  return tx.query<Required<Notice>>(
    `select id, severity, code, message, topic, details, created_at as "createdAt"
     from notices where dismissed_at is null order by created_at, id`,
  );
}

/** Puts a notice away; doing it twice is an error, so that a wrong id is not passed over. */
export async function dismissNotice(tx: Transaction, id: string): Promise<void> {
  const rows = await tx.query(
    `update notices set dismissed_at = app_now()
     where id = $1 and dismissed_at is null returning id`,
    [id],
  );
  if (rows.length === 0) throw unknownNotice('No such open notice.');
}

/** Puts every open notice of the tenant away and returns their ids. */
export async function dismissAllNotices(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `update notices set dismissed_at = app_now()
     where dismissed_at is null returning id`,
  );
  return rows.map((row) => row.id);
}

/**
 * Puts away what a session's going on, or its end, settles: that it was paused, and that jobs failed.
 * What still holds is told anew by the triggers.
 */
export async function settleNotices(tx: Transaction, sessionId: string): Promise<void> {
  await tx.query(
    `update notices set dismissed_at = app_now()
     where topic = 'session/' || $1 and dismissed_at is null and details ?| '{gate,jobId}'`,
    [sessionId],
  );
}

/** The notice with this id, or with an id that ends so. */
export function findNotice(open: readonly Notice[], wanted: string): Notice {
  const [found, ...others] = open.filter(({ id }) => id.endsWith(wanted));
  if (!found) throw unknownNotice(`No open notice ${wanted}.`);
  if (others.length === 0) return found;
  const message = `${wanted} is the end of ${others.length + 1} ids of notices; give more of it.`;
  throw new DialecticError('usage_invalid', message);
}

const unknownNotice = (message: string): DialecticError =>
  new DialecticError('not_found', message, { action: '`dialectic notices` lists the open ones.' });
