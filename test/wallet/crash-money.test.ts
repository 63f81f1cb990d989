import { expect, test } from 'vitest';
import { crashWhilePaying } from './crash-money.ts';

test('each call is paid once through faults and kills', async () => {
  const { kills, report } = await crashWhilePaying({ drafts: 5, kills: 3, seed: 11 });
  expect(kills).toBe(3);
  expect(report.estimated.calls).toBeGreaterThan(0);
}, 120_000);
