import type { Database } from '../src/db/database.ts';
import { readStoreId, rolesOf, type StoreRoles } from '../src/db/store-roles.ts';

/** What the names of a store's roles end with. */
export async function roleSuffix({ driver }: Database): Promise<string> {
  const { client, release } = await driver.acquire();
  try {
    const id = await readStoreId(client);
    return id === undefined ? '' : `_${id}`;
  } finally {
    release();
  }
}

/** The roles of a store, for statements that a test sends by itself. */
export async function storeRoles(database: Database): Promise<StoreRoles & { ledger: string }> {
  const suffix = await roleSuffix(database);
  return { ...rolesOf(suffix.slice(1) || undefined), ledger: `dialectic_ledger${suffix}` };
}
