import { expect, test } from 'vitest';
import { runCampaign } from './campaign.ts';

test('100,000 random runs end, keep every rule and do nothing twice', () => {
  const { jobs, steps } = runCampaign(1_000_000, 100_000);
  console.log(`100,000 runs: ${jobs} jobs, ${steps} steps, none stuck`);
  expect(jobs).toBeGreaterThan(1_000_000);
});
