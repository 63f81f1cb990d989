import { expect, test } from 'vitest';
import { replayCampaign } from './replay-campaign.ts';

test.each([
  ['embedded', 1_500],
  ['server', 500],
] as const)(
  'on the %s store %i random histories give the states of the model',
  async (kind, runs) => {
    const steps = await replayCampaign(kind, kind === 'embedded' ? 100_000 : 200_000, runs);
    console.log(`${runs} histories on the ${kind} store: ${steps} operations compared`);
    expect(steps).toBeGreaterThan(runs * 50);
  },
);
