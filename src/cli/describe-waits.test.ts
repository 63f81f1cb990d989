import { expect, test } from 'vitest';
import type { SessionEvent } from '../session/event-types.ts';
import { describeStandstill, describeWaits } from './describe-waits.ts';

const now = new Date('2026-11-15T20:00:00Z');
const retried = (nextTryAt: string, message = 'compatible/m: slow down.') =>
  ({
    kind: 'job-retried',
    error: { code: 'provider_rate_limited', message },
    nextTryAt,
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

test('what a session waits for is told by reason, with the way to go on at once', () => {
  const until = '2026-11-18T20:00:00Z';
  const error = { code: 'provider_rate_limited', message: 'compatible/m: slow down.' } as const;
  const soon = { jobs: 4, until: '2026-11-15T20:00:05Z', error: null };
  const waits = [{ jobs: 2, until, error: null }, { jobs: 1, until, error }, soon];
  expect(describeStandstill(waits, 'ID', now)).toEqual([
    '2 jobs wait until 2026-11-18T20:00:00Z, 4,320 min from now: ' +
      'the clock was ahead when the date was set.',
    '1 job waits until 2026-11-18T20:00:00Z, 4,320 min from now: ' +
      'compatible/m: slow down. (provider_rate_limited)',
    'Stop with Ctrl-C and go on at once with: dialectic resume ID --now',
  ]);
  expect(describeStandstill([soon], 'ID', now)).toEqual([]);
});
