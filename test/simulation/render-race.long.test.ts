import { expect, test } from 'vitest';
import { raceRenders } from './render-race.ts';

test('1,000 pairs of jobs of one stage that render and end together, without a deadlock', async () => {
  const deadlocks = await raceRenders(1_000);
  console.log(`1,000 rounds, ${deadlocks} deadlocks`);
  expect(deadlocks).toBe(0);
});
