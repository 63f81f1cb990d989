import { test } from 'vitest';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { Campaign } from './campaign.ts';

describeOnBoth('the ledger', (kind) => {
  test('does what its reference does in 10,000 runs of up to 100 commands', async () => {
    const campaign = await Campaign.open(await openTestStore(kind));
    try {
      await campaign.check(10_000, Number(process.env['SEED'] ?? 2));
    } finally {
      await campaign.close();
    }
  });
});
