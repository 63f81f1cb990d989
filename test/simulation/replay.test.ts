import { expect, test } from 'vitest';
import { replayCampaign } from './replay-campaign.ts';

test('40 random histories give the same states on the real SQL after every operation', async () => {
  expect(await replayCampaign('embedded', 1, 40)).toBeGreaterThan(2_000);
});
