import { test } from 'vitest';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { Campaign } from './campaign.ts';

describeOnBoth('the ledger', (kind) => {
  test('does what its reference does, command by command', async () => {
    const campaign = await Campaign.open(await openTestStore(kind));
    try {
      await campaign.check(60, Number(process.env['SEED'] ?? 1));
    } finally {
      await campaign.close();
    }
  });
});
