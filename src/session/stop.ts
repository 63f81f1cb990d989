import { settleNotices } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { addGate, cancelSession } from '../jobs/sessions.ts';
import { lockSession } from './advance.ts';
import { readSession } from './read.ts';

/**
 * Pauses a session with the gate `user`: workers claim nothing more of it, calls in flight finish
 * and are saved. Pausing a session that is paused changes nothing.
 */
export async function pauseRun(tx: Transaction, sessionId: string): Promise<void> {
  await lockSession(tx, sessionId);
  const { status } = await readSession(tx, sessionId);
  if (status !== 'running') {
    throw new DialecticError('conflict', `The session is ${status}; only a running one pauses.`);
  }
  await addGate(tx, sessionId, 'user');
}

const CANCELLABLE = ['draft', 'running', 'awaiting_review'];

/**
 * Cancels a session for good: its live jobs become cancelled, and the workers that run them abort
 * their calls as soon as they hear of it. What those calls had brought is saved and paid.
 */
export async function cancelRun(tx: Transaction, sessionId: string): Promise<void> {
  await lockSession(tx, sessionId);
  const { status } = await readSession(tx, sessionId);
  if (!CANCELLABLE.includes(status)) {
    throw new DialecticError('conflict', `The session is ${status} and cannot be cancelled.`);
  }
  await cancelSession(tx, sessionId);
  await settleNotices(tx, sessionId);
}
