import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';

/** Runs so many transactions of two tenants by turns, four at a time: each sees its own rows alone. */
export async function alternateTenants(
  database: Database,
  identities: readonly { readonly tenantId: string }[],
  count: number,
): Promise<void> {
  let wrong = 0;
  const lane = async (offset: number) => {
    for (let index = 0; index < count / 4; index++) {
      const { tenantId } = identities[(index + offset) % 2]!;
      const rows = await database.asTenant(tenantId, (tx) =>
        tx.query<{ tenant_id: string }>('select tenant_id from tenants'),
      );
      if (rows.length !== 1 || rows[0]!.tenant_id !== tenantId) wrong++;
    }
  };
  await Promise.all([lane(0), lane(1), lane(0), lane(1)]);
  expect(wrong).toBe(0);
  const [role] = await database.transaction({ as: 'owner' }, (tx) =>
    tx.query(`select current_user::text as name, current_tenant() as tenant`),
  );
  expect(role).toEqual({ name: 'postgres', tenant: null });
}
