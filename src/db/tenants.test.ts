import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import type { Database } from './database.ts';
import {
  authenticate,
  ensureLocalTenant,
  type Identity,
  issueToken,
  LOCAL_TENANT,
  revokeToken,
} from './tenants.ts';

describeOnBoth('tenants and tokens', (kind) => {
  let now = new Date('2030-01-01T00:00:00Z');
  let database: Database;
  let identity: Identity;
  beforeAll(async () => {
    database = await openTestStore(kind, { clock: () => now });
    identity = await newTenant(database);
  });

  test('a token leads to its tenant and user until it expires by the database clock', async () => {
    const expiresAt = new Date('2030-01-01T01:00:00Z');
    const { token } = await issueToken(database, identity, { name: 'laptop', expiresAt });
    expect(await authenticate(database, token)).toEqual(identity);
    now = expiresAt;
    await expect(authenticate(database, token)).rejects.toMatchObject({ code: 'token_expired' });
  });

  test('a revoked token is an ended one, and cannot be revoked twice', async () => {
    const { id, token } = await issueToken(database, identity, { name: 'x', expiresAt: null });
    await revokeToken(database, identity.tenantId, id);
    await expect(authenticate(database, token)).rejects.toMatchObject({ code: 'token_expired' });
    const again = revokeToken(database, identity.tenantId, id);
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
  });

  test("another tenant cannot revoke a token or issue one for a stranger's user", async () => {
    const { id, token } = await issueToken(database, identity, { name: 'x', expiresAt: null });
    const stranger = await newTenant(database, 'stranger');
    const revoke = revokeToken(database, stranger.tenantId, id);
    await expect(revoke).rejects.toMatchObject({ code: 'not_found' });
    const issue = issueToken(
      database,
      { tenantId: stranger.tenantId, userId: identity.userId },
      { name: 'x', expiresAt: null },
    );
    await expect(issue).rejects.toMatchObject({ code: 'conflict' });
    expect(await authenticate(database, token)).toEqual(identity);
  });

  test('text that is not a token, and a token nobody issued, are refused', async () => {
    for (const text of ['', 'dlc_', "dlc_' or true --", `dlc_${'A'.repeat(43)}`]) {
      await expect(authenticate(database, text)).rejects.toMatchObject({ code: 'token_invalid' });
    }
  });

  test('no column holds the text of a token', async () => {
    const { token } = await issueToken(database, identity, { name: 'canary', expiresAt: null });
    const rows = await database.asTenant(identity.tenantId, (tx) =>
      tx.query<{ row: string }>('select t::text as row from api_tokens t'),
    );
    const hex = Buffer.from(token).toString('hex');
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) {
      expect(row).not.toContain(token);
      expect(row).not.toContain(hex);
    }
  });

  test('the local tenant is made once, also by two at the same time', async () => {
    const made = await Promise.all([ensureLocalTenant(database), ensureLocalTenant(database)]);
    expect(made[0]).toEqual(made[1]);
    const tenants = await database.asTenant(LOCAL_TENANT, (tx) =>
      tx.query('select email from users'),
    );
    expect(tenants).toEqual([{ email: 'local' }]);
  });
});
