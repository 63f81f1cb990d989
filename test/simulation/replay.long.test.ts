import { expect, test } from 'vitest';
import { histories, replayAll } from './replay-campaign.ts';

test.each([
  ['embedded', 1_500, 100_000],
  ['server', 500, 200_000],
] as const)(
  'on the %s store %i histories give the states of the model',
  async (kind, runs, seed) => {
    const steps = await replayAll(kind, histories(seed, runs));
    console.log(`${runs} histories on the ${kind} store: ${steps} operations compared`);
    expect(steps).toBeGreaterThan(runs * 50);
  },
);
