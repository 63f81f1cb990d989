import { expect, test } from 'vitest';
import { pickVaried, replayAll } from './replay-campaign.ts';

test('12 varied histories give the same states on the real SQL after every operation', async () => {
  const runs = pickVaried(1, 800, 12);
  expect(await replayAll('embedded', runs)).toBeGreaterThan(500);
});
