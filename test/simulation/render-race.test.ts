import { expect, test } from 'vitest';
import { raceRenders } from './render-race.ts';

test('40 pairs of jobs of one stage that render and end together, without a deadlock', async () => {
  expect(await raceRenders(40)).toBe(0);
});
