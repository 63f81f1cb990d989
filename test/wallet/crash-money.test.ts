import { expect, test } from 'vitest';
import { crashWhilePaying } from './crash-money.ts';

test('each call is paid once through faults and 2 kills', async () => {
  const report = await crashWhilePaying({ drafts: 4, kills: 2, seed: 11 });
  expect(report.estimated.calls).toBeGreaterThan(0);
});
