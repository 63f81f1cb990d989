import { expect, test } from 'vitest';
import type { SessionEvent } from '../session/event-types.ts';
import { describeWaits } from './describe-waits.ts';

const now = new Date('2026-11-15T20:00:00Z');
const retried = (nextTryAt: string, message = 'compatible/m: slow down.') =>
  ({
    kind: 'job-retried',
    error: { code: 'provider_rate_limited', message },
    nextTryAt: new Date(nextTryAt),
  }) as SessionEvent;

test('a wait of more than ten seconds is told with its reason and its end, once', () => {
  const events = [
    retried('2026-11-15T20:09:00.123Z'),
    retried('2026-11-15T20:09:00.456Z'),
    retried('2026-11-15T20:00:45Z', 'compatible/n: overloaded.'),
    retried('2026-11-15T20:00:09Z'),
    retried('2026-11-14T20:00:00Z'),
  ];
  expect(describeWaits(events, now)).toEqual([
    'Waiting until 2026-11-15T20:09:00Z, 9 min from now: compatible/m: slow down. ' +
      '(provider_rate_limited) Ctrl-C stops the run.',
    'Waiting until 2026-11-15T20:00:45Z, 45 s from now: compatible/n: overloaded. ' +
      '(provider_rate_limited) Ctrl-C stops the run.',
  ]);
});
