import { expect, test } from 'vitest';
import { elapsedMs, nextTurn } from '../platform/clock.ts';
import { Departures } from './departures.ts';

test('what is computed waits for the requests that are prepared, and not for later ones', async () => {
  const departures = new Departures();
  const [first, second] = [departures.expect(), departures.expect()];
  let isGone = false;
  const gone = departures.untilGone().then(() => {
    isGone = true;
  });
  const later = departures.expect();
  first();
  await nextTurn();
  expect(isGone).toBe(false);
  second();
  await gone;
  later();
  await departures.untilGone();
});

test('a request that takes long to prepare is not waited for', async () => {
  const departures = new Departures();
  const leave = departures.expect();
  const since = elapsedMs();
  await departures.untilGone();
  expect(elapsedMs() - since).toBeGreaterThan(20);
  leave();
});
