import { expect, test } from 'vitest';
import type { SessionEvent } from './event-types.ts';
import { NO_EVENTS, reduceSession } from './session-state.ts';

const tell = (
  kind: 'session-paused' | 'session-resumed',
  reason: string,
): SessionEvent & { kind: typeof kind } => ({
  kind,
  reason,
  iteration: 1,
  cursor: '',
  at: '',
});

test.each(['review', 'until'])('a session rests between stages (%s) and goes on', (reason) => {
  const resting = reduceSession(NO_EVENTS, [tell('session-paused', reason)]);
  expect(resting).toMatchObject({ status: 'awaiting_review', gates: new Set() });
  expect(reduceSession(resting, [tell('session-resumed', reason)]).status).toBe('running');
});

test('a session is paused until the last of its gates is open', () => {
  const pauses = [tell('session-paused', 'user'), tell('session-paused', 'funds')];
  const paused = reduceSession(NO_EVENTS, pauses);
  const half = reduceSession(paused, [tell('session-resumed', 'user')]);
  expect(half.gates).toEqual(new Set(['funds']));
  expect(paused.gates).toEqual(new Set(['user', 'funds']));
});
