import { expect, test } from 'vitest';
import { crashWhilePaying } from './crash-money.ts';

test('each call is paid once through 30 % faults and 25 kills', async () => {
  const report = await crashWhilePaying({ drafts: 40, kills: 25, seed: 12 });
  expect(report.estimated.calls).toBeGreaterThan(10);
});
