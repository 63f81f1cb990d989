import { test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { alternateTenants } from './alternate-tenants.ts';

describeOnBoth('tenant isolation', (kind) => {
  test('10,000 alternating transactions on a pool never see the tenant before', async () => {
    const database = await openTestStore(kind);
    const identities = [await newTenant(database, 'one'), await newTenant(database, 'two')];
    await alternateTenants(database, identities, 10_000);
  });
});
