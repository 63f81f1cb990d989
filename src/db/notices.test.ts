import { expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import { addNotice, dismissNotice, openNotices } from './notices.ts';

describeOnBoth('notices', (kind) => {
  test('stay until they are dismissed, and belong to one tenant', async () => {
    const database = await openTestStore(kind);
    const { tenantId } = await newTenant(database);
    const stranger = await newTenant(database, 'stranger');
    const notice = {
      severity: 'error' as const,
      code: 'storage_full',
      message: 'The disk is full.',
      topic: 'session/1',
      details: { freeBytes: 12 },
    };
    const id = await database.asTenant(tenantId, (tx) => addNotice(tx, notice));
    const read = (tenant: string) => database.asTenant(tenant, openNotices);
    expect(await read(tenantId)).toEqual([{ ...notice, id, createdAt: expect.any(Date) }]);
    expect(await read(stranger.tenantId)).toEqual([]);
    const steal = database.asTenant(stranger.tenantId, (tx) => dismissNotice(tx, id));
    await expect(steal).rejects.toMatchObject({ code: 'not_found' });
    await database.asTenant(tenantId, (tx) => dismissNotice(tx, id));
    expect(await read(tenantId)).toEqual([]);
  });
});
