import { expect, test } from 'vitest';
import { pickVaried, replayAll } from './replay-campaign.ts';

test('8 varied histories give the same states on the real SQL after every operation', async () => {
  const runs = pickVaried(1, 400, 8);
  expect(await replayAll('embedded', runs)).toBeGreaterThan(150);
});
