import { expect, test } from 'vitest';
import { describeClock } from './describe-time.ts';
import { describeStandstill } from './describe-waits.ts';

const now = new Date('2026-11-15T20:00:00Z');

test('what a session waits for is told by reason, with the way to go on at once', () => {
  const until = '2026-11-18T20:00:00Z';
  const error = { code: 'provider_rate_limited', message: 'compatible/m: slow down.' } as const;
  const soon = { jobs: 4, until: '2026-11-15T20:00:05Z', error: null };
  const waits = [{ jobs: 2, until, error: null }, { jobs: 1, until, error }, soon];
  // In the time zone of this machine.
  const date = describeClock(new Date(until), now);
  expect(date).toMatch(/^2026-11-1[789] \d\d:\d\d:\d\d$/);
  expect(describeStandstill(waits, 'ID', now)).toEqual([
    `2 jobs wait until ${date}, 72 h 0 min from now: the clock was ahead when the date was set.`,
    `1 job waits until ${date}, 72 h 0 min from now: ` +
      'compatible/m: slow down. (provider_rate_limited)',
    'Stop with Ctrl-C and go on at once with: dialectic resume ID --now',
  ]);
  expect(describeStandstill([soon], 'ID', now)).toEqual([]);
});
